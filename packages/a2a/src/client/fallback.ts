/**
 * What a session does when an exchange has failed. A page loads it after everything else, while all is well.
 *
 * If an interface fails in a way that another may not, the next one is tried and the one that works is kept (B-20, A-31). Cards
 * can declare wrong versions: if a peer does not know the methods of its declared version, those of the other generation are
 * tried at the same URL, unless the caller has pinned a version (B-9).
 */
import { findBinding } from '../bindings/protocol-bindings.ts'
import type { AgentCard, SecurityScheme } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { Operation, RequestOf } from '../model/operation.ts'
import type { VersionId } from '../versions/index.ts'
import type { ChosenInterface, ClientLog, Session } from './contract.ts'
import { sleep } from './sleep.ts'
import { isReadOperation, canRetry, isConnectFailure, backoffDelayMs } from './retry.ts'

export { withResponseDetails } from './http/response-errors.ts'

export interface InterfaceState {
  /** The interfaces of the card, best first, and those found by guessing. */
  candidates: readonly ChosenInterface[]
  current: ChosenInterface
  /** Interfaces that have responded as their version requires. A method that one of them rejects is unsupported by the agent. */
  readonly confirmed: Set<ChosenInterface>
  readonly isPinned: boolean
  /** Newest first. */
  readonly versions: readonly VersionId[]
  readonly log: ClientLog
}

/** Tries the other interfaces; throws the failure of the first usable one if none does better. */
export async function tryOtherInterfaces<T>(
  interfaces: InterfaceState,
  operation: Operation,
  first: unknown,
  use: (at: ChosenInterface) => Promise<T>,
  card?: AgentCard,
): Promise<T> {
  const { candidates, isPinned, confirmed, log } = interfaces
  const failed = interfaces.current
  let why = fallbackReasonOf(first, operation, confirmed.has(failed))
  if (why === undefined) throw first
  // A server that is busy at one URL is as busy at its other URLs.
  const busyServer = why === 'busy' ? serverOf(failed) : undefined
  const queue = candidates.filter((other) => other !== failed && serverOf(other) !== busyServer)
  if (!isPinned) queue.push(...guessOtherVersion(why, failed, interfaces, candidates))
  if (!isPinned && why === 'stranger')
    queue.push(
      ...(await import('./simple-tasks/simple-tasks-card.ts')).guessSimpleTasksInterface(failed, operation, card),
    )
  let failure = first
  // Grows during the iteration.
  for (const at of queue) {
    try {
      const result = await use(at)
      log.warn(`Using another interface of the agent: ${at.why}`, { from: failed, to: at, reason: first })
      if (!candidates.includes(at)) interfaces.candidates = [...candidates, at]
      interfaces.current = at
      confirmed.add(at)
      return result
    } catch (reason) {
      const isGuess = !candidates.includes(at)
      why = fallbackReasonOf(reason, operation, confirmed.has(at))
      // An interface that this client cannot use says nothing about the agent, which may only be down for a moment. A guess that is
      // busy is right: its status says more than that nothing is served at the declared interface.
      if (isGuess ? why === 'busy' : isUnusable(failure)) failure = reason
      // A guessed version that lacks the operation proves nothing.
      if (why === undefined && !(isGuess && hasCode(reason, 'UNSUPPORTED_OPERATION'))) throw reason
      if (!isPinned && !isGuess) queue.push(...guessOtherVersion(why, at, interfaces, [...candidates, ...queue]))
    }
  }
  if (isPinned && isCoreOperation(operation) && fallbackReasonOf(first, operation, false) === 'stranger') {
    throw pinnedVersionError(failed, `does not support ${operation}`, first)
  }
  throw failure
}

/** The code of its version cannot be loaded, or its address is blocked by the `fetch` or the resolver that the caller passed. */
const isUnusable = (reason: unknown): boolean =>
  reason instanceof A2AError && /^(NOT_LOADED|ADDRESS_BLOCKED)$/.test(reason.details['reason'] ?? '')

const mismatchedInterfaces = new WeakSet<ChosenInterface>()

/** Logs that the peer was called in its declared version and responded in that of the other generation, which it returns. */
export function reportVersionMismatch(interfaces: InterfaceState, at: ChosenInterface): VersionId {
  const found = otherGeneration(interfaces, at)
  if (interfaces.isPinned) throw pinnedVersionError(at, `responds as A2A ${found}`)
  if (!mismatchedInterfaces.has(at)) {
    mismatchedInterfaces.add(at)
    const message = `The agent's card declares A2A ${at.version}, but it responds as A2A ${found}`
    interfaces.log.warn(message, { interface: at, found })
  }
  return found
}

/** The newest version with another major number, whose methods and objects are different. */
const otherGeneration = ({ versions }: InterfaceState, { version }: ChosenInterface): VersionId =>
  versions.find((other) => other[0] !== version[0]) ?? version

const hasCode = (reason: unknown, ...codes: string[]): reason is A2AError =>
  reason instanceof A2AError && codes.includes(reason.code)

/** The operations that every agent must support. */
const isCoreOperation = (operation: Operation): boolean => /^(Send\w*Message|GetTask|CancelTask)$/.test(operation)

const serverOf = ({ url }: ChosenInterface): string => (URL.canParse(url) ? new URL(url).host : url)

type FallbackReason = 'absent' | 'busy' | 'stranger' | undefined

/** Why another interface may do better, if it may: no connection, unavailable now, or another protocol version. */
function fallbackReasonOf(reason: unknown, operation: Operation, proven: boolean): FallbackReason {
  if (!(reason instanceof A2AError)) return undefined
  const { reason: why, status = '' } = reason.details as { readonly [name: string]: string | undefined }
  if (isUnusable(reason)) return 'absent'
  if (why === 'NETWORK') return isReadOperation(operation) || isConnectFailure(reason) ? 'absent' : undefined
  // Unless it is our own error, which means that the peer has acted.
  if (hasCode(reason, 'VERSION_NOT_SUPPORTED')) return reason.details['declared'] === undefined ? 'stranger' : undefined
  // A gateway's 502 and 504 leave open what happened behind it.
  if (hasCode(reason, 'UNAVAILABLE') && /^50[234]$/.test(status))
    return status === '503' || isReadOperation(operation) ? 'busy' : undefined
  if (proven) return undefined
  const isNotServed =
    hasCode(reason, 'INVALID_AGENT_RESPONSE', 'UNAVAILABLE', 'INTERNAL') && /^(404|405|501)$/.test(status)
  return isNotServed || hasCode(reason, 'METHOD_NOT_FOUND', 'METHOD_NOT_ALLOWED') ? 'stranger' : undefined
}

/** The other generation at the same URL. Its versions have the same names for everything that matters here. */
function guessOtherVersion(
  why: FallbackReason,
  at: ChosenInterface,
  interfaces: InterfaceState,
  tried: readonly ChosenInterface[],
): ChosenInterface[] {
  const { url, protocolBinding } = at
  const version = otherGeneration(interfaces, at)
  const isTried = tried.some(
    (one) => one.url === url && one.protocolBinding === protocolBinding && one.version === version,
  )
  if (why !== 'stranger' || isTried || !findBinding(protocolBinding)?.loadClient) return []
  const explanation = `its card declares A2A ${at.version} at ${url}, but it speaks ${version}`
  return [{ ...at, version, protocolVersion: version, why: explanation }]
}

function pinnedVersionError({ version, url }: ChosenInterface, how: string, cause?: unknown): A2AError {
  const message = `The agent's card declares A2A ${version} at ${url}, but the agent ${how}; the version is pinned`
  return new A2AError('VERSION_NOT_SUPPORTED', message, { declared: version }, { cause })
}

export interface FailedAttempt extends Pick<Session, 'card' | 'limits' | 'log' | 'onRetry'> {
  readonly operation: Operation
  readonly request: RequestOf<Operation>
  /** When the first attempt began, by `performance.now()`. */
  readonly startedAt: number
  readonly attempt: number
  readonly signal: AbortSignal
  /** Limit for all attempts together. Default: no limit. */
  readonly timeoutMs: number | undefined
}

/** Waits until the next attempt; throws the reason if there must be none. */
export async function waitBeforeRetry(reason: unknown, failed: FailedAttempt): Promise<void> {
  const { operation, request, startedAt, attempt, card, limits, signal, timeoutMs = Infinity, log, onRetry } = failed
  if (attempt >= limits.attempts || !(reason instanceof A2AError)) throw reason
  // A peer that times out twice will time out again, and each attempt takes the full timeout.
  if (attempt > 1 && reason.code === 'TIMEOUT') throw reason
  const delayMs = backoffDelayMs(attempt, reason, limits)
  if (delayMs === undefined) throw reason
  const agoMs = performance.now() - startedAt + delayMs
  if (agoMs >= timeoutMs) throw reason
  const sent = 'message' in request ? { messageId: request.message.messageId, agoMs } : undefined
  if (!canRetry(reason, operation, card, sent)) throw reason
  log.debug?.(`${operation} is retried in ${Math.round(delayMs)} ms`, { attempt, reason })
  onRetry?.({ error: reason, delayMs })
  await sleep(delayMs, signal)
}

/**
 * Adds what helps the caller: after a 401, the schemes that the card requires; after a transient failure, the messageId,
 * because a caller that knows more than `canRetry` may send the same message again.
 */
export function withErrorHints(reason: unknown, request: RequestOf<Operation>, card: AgentCard): unknown {
  if (hasCode(reason, 'UNAUTHENTICATED')) return withRequiredSchemes(reason, card)
  if (!('message' in request) || !(reason instanceof A2AError) || !reason.retryable) return reason
  const { code, message, details, cause } = reason
  return new A2AError(code, message, { ...details, messageId: request.message.messageId }, { cause })
}

/**
 * After a 401: the same error with what the card requires, in its message and as `details.schemes`, so that it says which
 * credentials to provide (B-151).
 */
function withRequiredSchemes(error: A2AError, card: AgentCard): A2AError {
  const wanted = describeRequiredSchemes(card)
  if (wanted === undefined || error.details['schemes'] !== undefined) return error
  const { code, message, details, cause } = error
  return new A2AError(code, `${message} (the card requires ${wanted})`, { ...details, schemes: wanted }, { cause })
}

/** `bearer (HTTP bearer) with key (API key in the header X-Key), or login (OAuth 2, client credentials)`. */
function describeRequiredSchemes({ securityRequirements = [], securitySchemes = {} }: AgentCard): string | undefined {
  const named = securityRequirements.map(({ schemes }) => Object.entries(schemes))
  const alternatives =
    named.length > 0 ? named : Object.keys(securitySchemes).map((name) => [[name, { list: [] }] as const])
  const words = alternatives.map((together) =>
    together.length === 0
      ? 'nothing'
      : together.map(([name, { list }]) => `${name} (${describeScheme(securitySchemes[name], list)})`).join(' with '),
  )
  return words.length > 0 ? words.join(', or ') : undefined
}

function describeScheme(scheme: SecurityScheme | undefined, scopes: readonly string[]): string {
  const scoped = scopes.length > 0 ? `, ${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(' ')}` : ''
  if (scheme === undefined) return 'of an unknown type'
  if ('apiKeySecurityScheme' in scheme) {
    const { location, name } = scheme.apiKeySecurityScheme
    return `API key in the ${location} ${name}`
  }
  if ('httpAuthSecurityScheme' in scheme) return `HTTP ${scheme.httpAuthSecurityScheme.scheme}${scoped}`
  if ('mtlsSecurityScheme' in scheme) return 'a client certificate'
  if ('openIdConnectSecurityScheme' in scheme) return `OpenID Connect${scoped}`
  const flows = Object.keys(scheme.oauth2SecurityScheme.flows).map((flow) =>
    flow.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
  )
  return `OAuth 2${flows.length > 0 ? `, ${flows.join(' or ')}` : ''}${scoped}`
}
