/** Obtains a token for the schemes that an agent names in the middle of a task (AUTH_REQUIRED). It is sent, and not stored. */
import type { AgentCard, SecurityScheme } from '@parley/a2a'
import type { AgentConnection } from '../agent/connection.ts'
import { loginOrigin } from '../auth/login-scope.ts'
import { logIn } from '../auth/login.ts'
import type { Settings } from '../args/settings.ts'
import type { CommandContext } from '../command.ts'

export async function obtainInTaskToken(
  schemes: Readonly<Record<string, SecurityScheme>>,
  { settings, output, signal }: CommandContext,
  { agent, cardUrl, fetch, checkProjectTrust }: AgentConnection,
  show: (text: string) => void,
): Promise<string> {
  const card: AgentCard = { ...agent.card, securitySchemes: schemes, securityRequirements: [] }
  const login = await logIn({
    settings: withLoginDefaults(settings),
    card,
    origin: loginOrigin(cardUrl, agent.interface.url),
    fetch,
    checkProjectTrust,
    signal,
    now: Date.now,
    note: show,
    onDeviceCode: ({ verificationUri, userCode }) =>
      show(`To sign in, open ${verificationUri}\nand enter the code ${userCode}`),
  })
  output.redact(login.accessToken)
  return login.accessToken
}

/** The options of `auth login` that `chat` does not have are not set. */
function withLoginDefaults(settings: Settings): Settings {
  const known = new Set(settings.all.map(({ name }) => name))
  return {
    ...settings,
    value: (name) => (known.has(name) ? settings.value(name) : undefined),
    values: (name) => (known.has(name) ? settings.values(name) : []),
  }
}
