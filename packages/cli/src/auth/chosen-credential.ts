/** Which credential calls to an agent would carry, in words, for `auth status`. */
import type { AgentCard } from '@parley/a2a'
import { spelled } from '../args/resolve-settings.ts'
import type { Settings } from '../args/settings.ts'
import { acceptsCredential } from './card-schemes.ts'
import type { StoredLogin } from './token-store.ts'

/** `undefined` if calls carry none. */
export function chosenCredential(
  settings: Settings,
  card: AgentCard | undefined,
  logins: readonly StoredLogin[],
): string | undefined {
  const accepts = (kind: 'bearer' | 'api-key' | 'certificate'): boolean =>
    card === undefined ? kind === 'bearer' : acceptsCredential(card, kind)
  const sourceOf = (name: string): string => spelled({ name, values: [], source: settings.sourceOf(name) })
  const given = [
    ...(['bearer', 'api-key'] as const).filter((name) => settings.value(name) !== undefined && accepts(name)),
    ...(settings.value('client-cert') !== undefined ? ['client-cert'] : []),
  ].map(sourceOf)
  if (given.length > 0) return given.join(' with ')
  const [login] = logins
  return login !== undefined && accepts('bearer') ? `the login at ${login.issuer}` : undefined
}
