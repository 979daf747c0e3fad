/**
 * How long a card may be used without revalidation (RFC 9111, B-22); five minutes if the peer gives no rule (S0-8). A
 * stale card is never returned, so `must-revalidate` needs no code, and `s-maxage` addresses shared caches.
 */
import type { AgentCard } from '../../model/card.ts'
import type { HttpAnswer } from '../contract.ts'
import type { CachedCard } from './card-cache.ts'

const defaultFreshMs = 300_000
/** How long an expired card is kept for revalidation. */
const staleKeptMs = 3_600_000

/** `undefined`: must not be cached. `before` is the entry that a 304 has confirmed. */
export function createCachedCard(
  card: AgentCard,
  { headers, type }: Pick<HttpAnswer, 'headers' | 'type'>,
  sentAt: number,
  now: number,
  before?: CachedCard,
): CachedCard | undefined {
  const header = (name: string): string | null => headers.get(name) ?? before?.storedHeaders.get(name) ?? null
  const control = header('cache-control') ?? ''
  const directiveIn = (directive: string): RegExpExecArray | null =>
    new RegExp(`(?:^|,)\\s*${directive}\\s*(?:=\\s*"?([^",]*)"?\\s*)?(?:,|$)`, 'i').exec(control)
  if (directiveIn('no-store')) return undefined

  const date = Date.parse(headers.get('date') ?? '') || now
  const age = Math.max(0, now - date, now - sentAt + 1_000 * (Number(headers.get('age')) || 0))
  const maxAge = directiveIn('max-age')
  const expires = header('expires')
  // A value that cannot be parsed has expired (§4.2.1). Our default of five minutes is not shortened by an age, which
  // may come only from a wrong clock.
  const lifetime =
    directiveIn('no-cache') || headers.get('vary')?.trim() === '*'
      ? 0
      : maxAge
        ? 1_000 * (Number(maxAge[1]) || 0) - age
        : expires !== null
          ? (Date.parse(expires) || 0) - date - age
          : defaultFreshMs
  // In a browser, a peer that lets other pages read its card need not allow conditional headers; there the browser's
  // own cache sends them.
  const hasValidator = type !== 'cors' && (header('etag') ?? header('last-modified')) !== null
  const freshUntil = now + lifetime
  const keptUntil = Math.max(now, freshUntil) + (hasValidator ? staleKeptMs : 0)
  if (keptUntil <= now) return undefined
  // Headers that a 304 leaves out stay valid.
  const lasting = new Map<string, string>()
  for (const name of ['cache-control', 'expires', ...(hasValidator ? ['etag', 'last-modified'] : [])]) {
    const value = header(name)
    if (value !== null) lasting.set(name, value)
  }
  return { card, freshUntil, keptUntil, storedHeaders: lasting }
}
