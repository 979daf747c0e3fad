/**
 * How long a card may be used without asking again (RFC 9111, B-22); five minutes where the peer gives no rule (S0-8).
 * Nothing stale is ever given out, so `must-revalidate` needs no code, and `s-maxage` speaks to shared caches.
 */
import type { AgentCard } from '../model/card.ts'
import type { CachedCard } from './card-cache.ts'

const fallbackMs = 300_000
/** How long an expired card is kept to be confirmed rather than fetched. */
const validatorMs = 3_600_000

/** `undefined`: not to be kept. `before` is what a 304 has confirmed. */
export function cachedCard(
  card: AgentCard,
  { headers, type }: Response,
  sentAt: number,
  now: number,
  before?: CachedCard,
): CachedCard | undefined {
  const header = (name: string): string | null => headers.get(name) ?? before?.lasting.get(name) ?? null
  const control = header('cache-control') ?? ''
  const says = (directive: string): RegExpExecArray | null =>
    new RegExp(`(?:^|,)\\s*${directive}\\s*(?:=\\s*"?([^",]*)"?\\s*)?(?:,|$)`, 'i').exec(control)
  if (says('no-store')) return undefined

  const date = Date.parse(headers.get('date') ?? '') || now
  const age = Math.max(0, now - date, now - sentAt + 1_000 * (Number(headers.get('age')) || 0))
  const maxAge = says('max-age')
  const expires = header('expires')
  // What cannot be read has expired (§4.2.1). Our own five minutes are not shortened by an age, which may be made up of
  // nothing but a clock that is wrong.
  const lifetime =
    says('no-cache') || headers.get('vary')?.trim() === '*'
      ? 0
      : maxAge
        ? 1_000 * (Number(maxAge[1]) || 0) - age
        : expires !== null
          ? (Date.parse(expires) || 0) - date - age
          : fallbackMs
  // In a browser, a peer that lets other pages read its card need not let them ask conditions; there the browser's own
  // cache asks them.
  const hasValidator = type !== 'cors' && (header('etag') ?? header('last-modified')) !== null
  const freshUntil = now + lifetime
  const keptUntil = Math.max(now, freshUntil) + (hasValidator ? validatorMs : 0)
  if (keptUntil <= now) return undefined
  // What a 304 leaves out holds on.
  const lasting = new Headers()
  for (const name of ['cache-control', 'expires', ...(hasValidator ? ['etag', 'last-modified'] : [])]) {
    const value = header(name)
    if (value !== null) lasting.set(name, value)
  }
  return { card, freshUntil, keptUntil, lasting }
}
