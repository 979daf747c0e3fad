/**
 * Delivers one notification over HTTP: encodes the event in the version of the push config (B-121, B-122, B-123), adds the
 * credentials (B-124 to B-126), and interprets the response (B-128). Redirects are not followed: a client that names an address
 * must not be able to redirect the server to another one.
 */
import type { PushDelivery, PushOutcome, StreamItem } from '../../engine/contract.ts'
import { A2AError } from '../../model/error.ts'
import { pushHeaders } from '../../model/push-headers.ts'
import type { StreamEvent } from '../../model/task.ts'
import { type VersionId, versionOf } from '../../versions/index.ts'
import type { WebhookFetch } from './push-options.ts'
import { validateWebhookUrl } from './validate-push-config.ts'
import type { PushSigner } from './push-signer.ts'
import { chunkText, type EncodingCache } from '../streaming/encoding-cache.ts'

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

// Reads the body of a webhook's response. The body of a success is dropped (B-130). Of a failure the beginning is kept for the
// operator, without the secrets of the request that it may repeat.

/**
 * Reads the body of a webhook's response. The body of a success is dropped (B-130). Of a failure the beginning is kept for the
 * operator, without the secrets of the request that it may repeat.
 */

/** This much is read, so that the connection can be reused. */
const drainedBytes = 65_536
const drainMs = 1_000
/** Much more than is kept: a secret that begins in the kept part must be complete to be found. */
const excerptReadBytes = 16_384
const excerptScanChars = 1_000
const excerptChars = 300
/** Shorter secrets would also match ordinary words. */
const shortestSecret = 4

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** Reads a little of the rest, then cancels it. Not awaited. */
export async function drainResponse({ body }: Response): Promise<void> {
  const reader = readerOf(body)
  if (reader !== undefined) await readUpTo(reader, drainedBytes)
}

/** `undefined` if the response has no readable text. */
export async function responseExcerpt(
  response: Response,
  secrets: readonly (string | undefined)[],
): Promise<string | undefined> {
  if (!isText(response.headers.get('content-type'))) {
    void drainResponse(response)
    return undefined
  }
  const reader = readerOf(response.body)
  if (reader === undefined) return undefined
  const decoder = new TextDecoder()
  const pieces = await readUpTo(reader, excerptReadBytes)
  const words = redactSecrets(pieces.map((piece) => decoder.decode(piece, { stream: true })).join(''), secrets)
  return words === '' ? undefined : words
}

function readerOf(body: Response['body']): Reader | undefined {
  return (body as ReadableStream<Uint8Array> | null)?.getReader()
}

/** Cancels the response if it is longer or does not arrive. */
async function readUpTo(reader: Reader, mostBytes: number): Promise<readonly Uint8Array[]> {
  const giveUp = (): void => void reader.cancel().catch(() => {})
  const timer = setTimeout(giveUp, drainMs)
  const pieces: Uint8Array[] = []
  try {
    for (let read = 0; read < mostBytes;) {
      const { done, value } = await reader.read()
      if (done) return pieces
      read += value.byteLength
      pieces.push(value)
    }
    giveUp()
  } catch {
    // Errors are ignored: only the status matters.
  } finally {
    clearTimeout(timer)
  }
  return pieces
}

/** A response without a content type counts as text: frameworks respond like that when they fail. */
function isText(type: string | null): boolean {
  return type === null || /^text\/|json|xml|x-www-form-urlencoded/i.test(type)
}

function redactSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  let shown = text
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= shortestSecret) shown = shown.replaceAll(secret, '…')
  }
  const plain = shown
    .slice(0, excerptScanChars)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return plain.length > excerptChars ? `${plain.slice(0, excerptChars)}…` : plain
}
