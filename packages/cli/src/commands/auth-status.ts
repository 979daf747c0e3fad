/** `a2a auth status`: the stored logins and, with an agent, what it requires and which credential would be sent. */
import { configFolder } from '../args/config-files.ts'
import { describeAlternatives } from '../auth/card-schemes.ts'
import { chosenCredential } from '../auth/chosen-credential.ts'
import { loginOrigin } from '../auth/login-scope.ts'
import { loginJson, loginText } from '../auth/login-report.ts'
import { openTokenStore } from '../auth/token-store.ts'
import type { CommandContext } from '../command.ts'
import { neutralize } from '@parley/a2a/command-line'

export async function run(context: CommandContext): Promise<void> {
  const { settings, output, terminal } = context
  const store = openTokenStore({ folder: configFolder(terminal), warn: output.warn })
  const now = Date.now()
  if ((settings.value('agent-card') ?? settings.value('endpoint')) === undefined) {
    const logins = await store.list()
    if (output.format === 'json')
      return output.document({ version: 1, logins: logins.map((login) => loginJson(login, now)) })
    return output.text(
      logins.length === 0
        ? 'Logins: none'
        : [`Logins: ${logins.length}`, ...logins.map((login) => loginText(login, now))].join('\n\n'),
    )
  }
  const connection = await context.connect()
  try {
    const { card, cardUrl, agent } = connection
    const origin = loginOrigin(cardUrl, agent.interface.url)
    const logins = await store.list(origin)
    const requires = card === undefined ? [] : describeAlternatives(card)
    const credential = chosenCredential(settings, card, logins)
    if (output.format === 'json')
      return await output.document({
        version: 1,
        origin,
        requires,
        credential: credential ?? null,
        logins: logins.map((login) => loginJson(login, now)),
      })
    const head = [
      `Agent: ${origin}`,
      `Requires: ${requires.length === 0 ? 'no credential' : requires.join(', or ')}`,
      `Credential: ${credential ?? 'none'}`,
    ]
    // Names of the card: no line of theirs looks like one of the program.
    const lines = head.map((line) => neutralize(line.replaceAll(/\s*[\r\n]\s*/g, ' ')))
    await output.text([lines.join('\n'), ...logins.map((login) => loginText(login, now))].join('\n\n'))
  } finally {
    await connection.close()
  }
}
