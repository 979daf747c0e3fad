/**
 * Delivers one notification over HTTP: encodes the event in the version of the push config (B-121, B-122, B-123), adds the
 * credentials (B-124 to B-126), and interprets the response (B-128). Redirects are not followed: a client that names an address
 * must not be able to redirect the server to another one.
 */
import type { PushDelivery, PushOutcome, StreamItem } from '../../engine/contract.ts'
import { A2AError } from '../../model/error.ts'
import { pushHeaders } from '../../model/push-headers.ts'
import type { StreamEvent } from '../../model/task.ts'
import { versionOf } from '../../versions/index.ts'
import type { VersionId } from '../../versions/index.ts'
import type { WebhookFetch } from './push-options.ts'
import { drainResponse, responseExcerpt } from './response-excerpt.ts'
import { validateWebhookUrl } from './validate-push-config.ts'
import type { PushSigner } from './push-signer.ts'
import { type EncodingCache, chunkText } from '../streaming/encoding-cache.ts'

export interface PushDeliverDeps {
  readonly fetch: WebhookFetch
  validateUrl(url: URL): string | undefined
  readonly signer: PushSigner | undefined
  readonly encodingCache: EncodingCache
  /** Applies the extensions of the client that created the push config. */
  decorate(delivery: PushDelivery, item: StreamItem): StreamEvent
  now(): number
}

export function createPushDeliver(parts: PushDeliverDeps): (delivery: PushDelivery) => Promise<PushOutcome> {
  return async (delivery) => {
    const { target, signal } = delivery
    const problem = validateWebhookUrl(target.url, parts.validateUrl)
    if (problem !== undefined) return { outcome: 'refused', detail: `the address ${problem}` }
    const body = bodyOf(delivery, parts)
    const headers = await headersOf(delivery, body, parts.signer)
    let response: Response
    try {
      response = await parts.fetch(
        new Request(target.url, { method: 'POST', headers, body, redirect: 'manual', signal }),
      )
    } catch (reason) {
      // The guard refused the address that the name resolves to. A retry would have the same result.
      if (reason instanceof A2AError && reason.code === 'PERMISSION_DENIED') {
        return { outcome: 'refused', detail: 'the address is not public, and push.allow does not list it' }
      }
      return { outcome: 'failed', detail: failureReason(reason, signal) }
    }
    const outcome = outcomeOf(response, parts.now())
    if (outcome.outcome === 'delivered') {
      void drainResponse(response)
      return outcome
    }
    const answer = await responseExcerpt(response, secretsIn(target, headers))
    return answer === undefined ? outcome : { ...outcome, answer }
  }
}

function bodyOf(delivery: PushDelivery, { encodingCache, decorate }: PushDeliverDeps): string {
  const { target, item, task } = delivery
  const { json, behavior } = versionOf(target.version as VersionId)
  if (behavior.pushPayload === 'event') return chunkText(encodingCache.event(json, decorate(delivery, item)))
  const decorated = decorate(delivery, { ...item, event: { task: task() } })
  return chunkText(
    'task' in decorated ? encodingCache.task(json, decorated.task) : encodingCache.event(json, decorated),
  )
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

/** The secrets in the request, which must not appear in the excerpt. */
function secretsIn({ token, authentication }: PushDelivery['target'], headers: Readonly<Record<string, string>>) {
  return [headers['authorization']?.replace(/^\S+\s+/, ''), authentication?.credentials, token]
}

/** Bearer without credentials means that the server signs a JWT (B-125). */
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

/** Temporary failures are retried: no response, an overloaded or failing receiver, a redirect. */
function outcomeOf(response: Response, now: number): PushOutcome {
  const { status } = response
  const said = `HTTP ${status}`
  if (status >= 200 && status < 300) return { outcome: 'delivered', detail: said }
  if (status === 410) return { outcome: 'gone', detail: said }
  const isFinal = status >= 400 && status < 500 && ![408, 425, 429].includes(status)
  if (isFinal) return { outcome: 'refused', detail: said }
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), now)
  return { outcome: 'failed', detail: said, ...(retryAfterMs !== undefined ? { retryAfterMs } : {}) }
}

/** Seconds, or a date (RFC 9110 §10.2.3). */
function readRetryAfter(text: string | null, now: number): number | undefined {
  if (text === null) return undefined
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1_000
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** A short reason for the list of attempts. Never the address, which may hold a secret. */
function failureReason(reason: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'timed out'
  const { cause } = reason as { cause?: unknown }
  const codes = [reason, cause].map((error) => (error as { code?: unknown } | undefined)?.code)
  const code = codes.find((one) => typeof one === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(one))
  return typeof code === 'string' ? code : 'the connection failed'
}
