/**
 * What a session does when an exchange has failed; a page loads it after the rest, as long as everything works.
 *
 * When an interface fails in a way that another may not, the next is tried and the one that works is kept (B-20, A-31).
 * Cards lie about versions: where a peer does not know the methods that it declares, those of the other generation are
 * tried at the same address, unless the caller has pinned a version (B-9).
 */
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { Operation, RequestOf } from '../model/operation.ts'
import type { VersionId } from '../versions/version.ts'
import { withWanted } from './auth/wanted.ts'
import type { ChosenInterface, ClientLimits, ClientLog } from './contract.ts'
import { sleep } from './sleep.ts'
import { isRead, mayRepeat, neverSent, retryDelay } from './retry.ts'

export { refusal } from './refusal.ts'

export interface Interfaces {
  /** Of the card, best first, and what was found out besides. */
  known: readonly ChosenInterface[]
  current: ChosenInterface
  /** Those that have answered as their version should: a method that one of them lacks is just not there. */
  readonly proven: Set<ChosenInterface>
  readonly pinned: boolean
  readonly log: ClientLog
}

/** Tries the others, and throws what the first one said if none does better. */
export async function elsewhere<T>(
  interfaces: Interfaces,
  operation: Operation,
  first: unknown,
  use: (at: ChosenInterface) => Promise<T>,
  card?: AgentCard,
): Promise<T> {
  const { known, pinned, proven, log } = interfaces
  const failed = interfaces.current
  let why = failure(first, operation, proven.has(failed))
  if (why === undefined) throw first
  // Whoever is busy at one address is as busy at the next one of the same server.
  const isThere = why === 'busy' ? serverOf(failed) : undefined
  const queue = known.filter((other) => other !== failed && serverOf(other) !== isThere)
  if (!pinned) queue.push(...guess(why, failed, known))
  if (!pinned && why === 'stranger')
    queue.push(...(await import('./facade-card.ts')).guessFacade(failed, operation, card))
  // Grows while it is walked.
  for (const at of queue) {
    try {
      const result = await use(at)
      log.warn(`Using another interface of the agent: ${at.why}`, { from: failed, to: at, reason: first })
      if (!known.includes(at)) interfaces.known = [...known, at]
      interfaces.current = at
      proven.add(at)
      return result
    } catch (reason) {
      const guessed = !known.includes(at)
      why = failure(reason, operation, proven.has(at))
      // A guess that has no such operation has told nothing.
      if (why === undefined && !(guessed && is(reason, 'UNSUPPORTED_OPERATION'))) throw reason
      if (!pinned && !guessed) queue.push(...guess(why, at, [...known, ...queue]))
    }
  }
  if (pinned && isCore(operation) && failure(first, operation, false) === 'stranger') {
    throw notSpoken(failed, `does not know ${operation}`, first)
  }
  throw first
}

const liars = new WeakSet<ChosenInterface>()

/** The peer was asked in its own version and answered in the words of another. */
export function heard({ pinned, log }: Interfaces, at: ChosenInterface, found: VersionId): void {
  if (pinned) throw notSpoken(at, `answers as ${found} does`)
  if (liars.has(at)) return
  liars.add(at)
  log.warn(`The agent's card declares A2A ${at.version}, but it answers as ${found} does`, { interface: at, found })
}

const is = (reason: unknown, ...codes: string[]): reason is A2AError =>
  reason instanceof A2AError && codes.includes(reason.code)

/** What every agent must be able to do. */
const isCore = (operation: Operation): boolean => /^(Send\w*Message|GetTask|CancelTask)$/.test(operation)

const serverOf = ({ url }: ChosenInterface): string => (URL.canParse(url) ? new URL(url).host : url)

type Why = 'absent' | 'busy' | 'stranger' | undefined

/** Why another interface may do better, if it may: nobody is there, or cannot serve now, or speaks something else. */
function failure(reason: unknown, operation: Operation, proven: boolean): Why {
  if (!(reason instanceof A2AError)) return undefined
  const { reason: why, status = '' } = reason.details as { readonly [name: string]: string | undefined }
  if (why === 'NOT_LOADED') return 'absent'
  if (why === 'NETWORK') return isRead(operation) || neverSent(reason) ? 'absent' : undefined
  // Unless it is our own, which says that the peer has acted.
  if (is(reason, 'VERSION_NOT_SUPPORTED')) return reason.details['declared'] === undefined ? 'stranger' : undefined
  // A gateway's 502 and 504 leave open what happened behind it.
  if (is(reason, 'UNAVAILABLE') && /^50[234]$/.test(status))
    return status === '503' || isRead(operation) ? 'busy' : undefined
  if (proven) return undefined
  const lost = is(reason, 'INVALID_AGENT_RESPONSE', 'UNAVAILABLE', 'INTERNAL') && /^(404|405|501)$/.test(status)
  return lost || is(reason, 'METHOD_NOT_FOUND', 'METHOD_NOT_ALLOWED') ? 'stranger' : undefined
}

/** The other generation at the same address. 0.2 and 0.3 have the same names for everything that matters here. */
function guess(why: Why, at: ChosenInterface, tried: readonly ChosenInterface[]): ChosenInterface[] {
  const { url, protocolBinding } = at
  const version = at.version === '1.0' ? '0.3' : '1.0'
  const isTried = tried.some(
    (one) => one.url === url && one.protocolBinding === protocolBinding && one.version === version,
  )
  if (why !== 'stranger' || isTried || !/^(JSONRPC|HTTP\+JSON)$/i.test(protocolBinding)) return []
  const told = `its card declares A2A ${at.version} at ${url}, but it speaks ${version}`
  return [{ ...at, version, protocolVersion: version, why: told }]
}

function notSpoken({ version, url }: ChosenInterface, how: string, cause?: unknown): A2AError {
  const message = `The agent's card declares A2A ${version} at ${url}, but the agent ${how}; the version is pinned`
  return new A2AError('VERSION_NOT_SUPPORTED', message, { declared: version }, { cause })
}

export interface Failed {
  readonly operation: Operation
  readonly request: RequestOf<Operation>
  /** When the first attempt began, by `performance.now()`. */
  readonly startedAt: number
  readonly attempt: number
  readonly card: AgentCard
  readonly limits: ClientLimits
  readonly signal: AbortSignal
  /** For all attempts together. Default: no limit. */
  readonly timeoutMs: number | undefined
  readonly log: ClientLog
}

/** Until the next attempt; throws the reason instead where there is to be none. */
export async function pause(reason: unknown, failed: Failed): Promise<void> {
  const { operation, request, startedAt, attempt, card, limits, signal, timeoutMs = Infinity, log } = failed
  if (attempt >= limits.attempts || !(reason instanceof A2AError)) throw reason
  // Whoever is silent twice is silent for good, and each time takes all of its time.
  if (attempt > 1 && reason.code === 'TIMEOUT') throw reason
  const delayMs = retryDelay(attempt, reason, limits)
  if (delayMs === undefined) throw reason
  const agoMs = performance.now() - startedAt + delayMs
  if (agoMs >= timeoutMs) throw reason
  const sent = 'message' in request ? { messageId: request.message.messageId, agoMs } : undefined
  if (!mayRepeat(reason, operation, card, sent)) throw reason
  log.debug?.(`${operation} is tried again in ${Math.round(delayMs)} ms`, { attempt, reason })
  await sleep(delayMs, signal)
}

/**
 * With what its reader can make use of: after a refusal, what the card wants to see; after what may pass, the messageId,
 * because whoever knows better than `mayRepeat` may send the same message again.
 */
export function explained(reason: unknown, request: RequestOf<Operation>, card: AgentCard): unknown {
  if (is(reason, 'UNAUTHENTICATED')) return withWanted(reason, card)
  if (!('message' in request) || !(reason instanceof A2AError) || !reason.retryable) return reason
  const { code, message, details, cause } = reason
  return new A2AError(code, message, { ...details, messageId: request.message.messageId }, { cause })
}
