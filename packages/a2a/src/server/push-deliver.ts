/**
 * One notification over HTTP: the event in the words of the version that asked for it (B-121, B-122, B-123), what proves
 * who sends it (B-124 to B-126), and what to make of the answer (B-128). Redirects are not followed: whoever may name an
 * address must not be able to point from there to another.
 */
import type { PushDelivery, PushOutcome, StreamItem } from '../engine/contract.ts'
import { A2AError } from '../model/error.ts'
import { pushHeaders } from '../model/push.ts'
import type { StreamEvent } from '../model/task.ts'
import { versionOf } from '../versions/index.ts'
import type { VersionId } from '../versions/version.ts'
import type { WebhookFetch } from './push-options.ts'
import { drain, firstWords } from './push-answer.ts'
import { checkUrl } from './push-check.ts'
import type { PushSigner } from './push-jwt.ts'
import { textOf } from './slices.ts'
import type { SharedBytes } from './shared-bytes.ts'

export interface DeliverParts {
  readonly fetch: WebhookFetch
  refuses(url: URL): string | undefined
  readonly signer: PushSigner | undefined
  readonly bytes: SharedBytes
  /** What the extensions of whoever asked make of it. */
  decorate(delivery: PushDelivery, item: StreamItem): StreamEvent
  now(): number
}

export function createDeliver(parts: DeliverParts): (delivery: PushDelivery) => Promise<PushOutcome> {
  return async (delivery) => {
    const { target, signal } = delivery
    const wrong = checkUrl(target.url, parts.refuses)
    if (wrong !== undefined) return { outcome: 'refused', said: `the address ${wrong}` }
    const body = bodyOf(delivery, parts)
    const headers = await headersOf(delivery, body, parts.signer)
    let response: Response
    try {
      response = await parts.fetch(
        new Request(target.url, { method: 'POST', headers, body, redirect: 'manual', signal }),
      )
    } catch (reason) {
      // The guard says so: the name leads to where we do not go. Asking again is asking for another answer.
      if (reason instanceof A2AError && reason.code === 'PERMISSION_DENIED') {
        return { outcome: 'refused', said: 'the address is not public, and push.allow does not list it' }
      }
      return { outcome: 'failed', said: troubleOf(reason, signal) }
    }
    const outcome = outcomeOf(response, parts.now())
    if (outcome.outcome === 'delivered') {
      void drain(response)
      return outcome
    }
    const answer = await firstWords(response, secretsIn(target, headers))
    return answer === undefined ? outcome : { ...outcome, answer }
  }
}

function bodyOf(delivery: PushDelivery, { bytes, decorate }: DeliverParts): string {
  const { target, item, task } = delivery
  const { json, habits } = versionOf(target.version as VersionId)
  if (habits.pushes === 'event') return textOf(bytes.event(json, decorate(delivery, item)))
  const told = decorate(delivery, { ...item, event: { task: task() } })
  return textOf('task' in told ? bytes.task(json, told.task) : bytes.event(json, told))
}

async function headersOf(
  { target, taskId, configId, item, traceparent }: PushDelivery,
  body: string,
  signer: PushSigner | undefined,
): Promise<Record<string, string>> {
  const { token } = target
  const { id, spelling } = versionOf(target.version as VersionId)
  const authorization = await authorizationOf(target, () => signer?.sign(target.url, taskId, body))
  return {
    'content-type': spelling.restMediaType,
    'A2A-Version': id,
    [pushHeaders.eventId]: String(item.seq),
    [pushHeaders.configId]: configId,
    ...(token !== undefined ? { [pushHeaders.token]: token } : {}),
    ...(authorization !== undefined ? { authorization } : {}),
    traceparent,
  }
}

/** What it was sent and nobody else may read. */
function secretsIn({ token, authentication }: PushDelivery['target'], headers: Readonly<Record<string, string>>) {
  return [headers['authorization']?.replace(/^\S+\s+/, ''), authentication?.credentials, token]
}

/** Bearer without credentials asks us for ours (B-125). */
async function authorizationOf(
  { authentication }: PushDelivery['target'],
  sign: () => Promise<string> | undefined,
): Promise<string | undefined> {
  const { scheme = 'Bearer', credentials } = authentication ?? {}
  if (credentials !== undefined) return `${scheme} ${credentials}`
  if (scheme.toLowerCase() !== 'bearer') return undefined
  const jwt = await sign()
  return jwt === undefined ? undefined : `Bearer ${jwt}`
}

/** What may be better in a while is tried again: no answer, a busy or a broken one, one that points elsewhere. */
function outcomeOf(response: Response, now: number): PushOutcome {
  const { status } = response
  const said = `HTTP ${status}`
  if (status >= 200 && status < 300) return { outcome: 'delivered', said }
  if (status === 410) return { outcome: 'gone', said }
  const isFinal = status >= 400 && status < 500 && ![408, 425, 429].includes(status)
  if (isFinal) return { outcome: 'refused', said }
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), now)
  return { outcome: 'failed', said, ...(retryAfterMs !== undefined ? { retryAfterMs } : {}) }
}

/** Seconds, or a date (RFC 9110 §10.2.3). */
function readRetryAfter(text: string | null, now: number): number | undefined {
  if (text === null) return undefined
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1_000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** In a few words, for the list of attempts. Never the address, which may hold a secret. */
function troubleOf(reason: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'timed out'
  const { cause } = reason as { cause?: unknown }
  const codes = [reason, cause].map((error) => (error as { code?: unknown } | undefined)?.code)
  const code = codes.find((one) => typeof one === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(one))
  return typeof code === 'string' ? code : 'the connection failed'
}
