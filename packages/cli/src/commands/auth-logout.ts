/** `a2a auth logout`: deletes stored logins. Does not contact the agent unless its origin must be found. */
import { configFolder } from '../args/config-files.ts'
import { loginOrigin } from '../auth/login-scope.ts'
import { openTokenStore } from '../auth/token-store.ts'
import type { CommandContext } from '../command.ts'
import { usageError } from '../output/cli-error.ts'

export async function run(context: CommandContext): Promise<void> {
  const { settings, output, terminal } = context
  const store = openTokenStore({ folder: configFolder(terminal), warn: output.warn })
  const isAll = settings.has('all')
  const reference = settings.value('agent-card')
  if (!isAll && reference === undefined)
    throw usageError('auth logout needs --agent-card, or --all for the logins of all agents.')
  const logins = await store.list(isAll ? undefined : await originOf(context, reference ?? ''))
  for (const login of logins) await store.remove(login)
  const origins = [...new Set(logins.map(({ origin }) => origin))]
  if (output.format === 'json') return output.document({ version: 1, deleted: logins.length, origins })
  await output.text([`Deleted: ${logins.length}`, ...origins.map((origin) => `Agent: ${origin}`)].join('\n'))
}

/** An agent that is gone must not keep its token here: a host or a URL needs no request. */
async function originOf(context: CommandContext, reference: string): Promise<string> {
  const { settings, terminal } = context
  if (settings.value('catalog') === undefined && !reference.includes('@')) {
    const { resolveReference } = await import('../agent/agent-reference.ts')
    const noCatalog = (): Promise<never> => Promise.reject(new Error('there is no catalog to read'))
    const target = await resolveReference(reference, { cwd: terminal.cwd, catalog: undefined, fetchText: noCatalog })
    if ('url' in target) return new URL(target.url).origin
  }
  const connection = await context.connect()
  try {
    return loginOrigin(connection.cardUrl, connection.agent.interface.url)
  } finally {
    await connection.close()
  }
}
