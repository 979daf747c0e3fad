/** `a2a auth login`: obtains a token from the authorization server of an agent and stores it. */
import type { DeviceCodePrompt } from '@parley/a2a/client'
import { configFolder } from '../args/config-files.ts'
import { loginOrigin } from '../auth/login-scope.ts'
import { loginJson, loginText } from '../auth/login-report.ts'
import { logIn } from '../auth/login.ts'
import { openTokenStore } from '../auth/token-store.ts'
import type { CommandContext } from '../command.ts'
import { usageError } from '../output/cli-error.ts'

export async function run(context: CommandContext): Promise<void> {
  const { settings, output, terminal, signal } = context
  const connection = await context.connect()
  try {
    const { card, cardUrl, agent, fetch, checkProjectTrust } = connection
    if (card === undefined) throw usageError('auth login needs a card: pass --agent-card.')
    const login = await logIn({
      settings,
      card,
      origin: loginOrigin(cardUrl, agent.interface.url),
      fetch,
      checkProjectTrust,
      signal,
      now: Date.now,
      note: output.note,
      onDeviceCode: (prompt) => output.note(promptText(prompt)),
    })
    output.redact(login.accessToken)
    if (login.refreshToken !== undefined) output.redact(login.refreshToken)
    await openTokenStore({ folder: configFolder(terminal), warn: output.warn }).save(login)
    if (output.format === 'json') await output.document({ version: 1, login: loginJson(login, Date.now()) })
    else await output.text(loginText(login, Date.now()))
  } finally {
    await connection.close()
  }
}

function promptText({ userCode, verificationUri, verificationUriComplete, expiresAt }: DeviceCodePrompt): string {
  return [
    `To sign in, open ${verificationUri}`,
    `and enter the code ${userCode}`,
    ...(verificationUriComplete === undefined ? [] : [`or open ${verificationUriComplete}`]),
    `The code is valid until ${expiresAt.toISOString()}. Waiting for the sign-in…`,
  ].join('\n')
}
