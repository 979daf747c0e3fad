/**
 * Receives push notifications: verifies the sender, reads any version, handles each once and those of a task in order, and responds
 * 2xx only when the handler is done, so that a sender that retries loses nothing.
 */
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import { readJson, tooDeep } from '../../bindings/json-body.ts'
import { A2AError, invalidParams } from '../../model/error.ts'
import { errorTable } from '../../model/error-table.ts'
import { pushClaims, pushHeaders } from '../../model/push-headers.ts'
import { type StreamEvent, taskIdOfEvent } from '../../model/task.ts'
import { createFetchHandler, type FetchHandler } from '../http/fetch-adapter.ts'
import { consoleLog } from '../console-log.ts'
import { createNodeHandler, type NodeHandler } from '../http/node-adapter.ts'
import type { Delivery, DeliveryHandler } from './delivery.ts'
import { createDeliveryDeduplicator } from './dedupe-deliveries.ts'
import { checkWebhookOptions, webhookDefaults, type WebhookOptions } from './webhook-options.ts'
import { matchesAnySecret, sha256Hex } from '../keys/compare-secrets.ts'
import { isStruct } from '../../model/struct.ts'
import { newest, newestLegacy } from '../../versions/index.ts'
import type { JsonRecord } from '../../versions/read.ts'
import { type Dialect, isLegacyVersion } from '../../versions/version.ts'
import type { JSONWebKeySet, JWTPayload } from 'jose'
import { asymmetricAlgorithms as algorithms, openVerifyingKeys, type VerifyingKeys } from '../keys/verifying-keys.ts'
import * as defaults from '../defaults.ts'

/**
 * A receiver of push notifications. Also an async iterable: `for await (const { taskId, event } of hook)`. Use a
 * handler or a loop, not both.
 */
export interface Webhook extends AsyncIterable<Delivery> {
  /** Sets the handler of notifications. Throws if there is one already. Without a handler senders get 503 and retry. */
  handle(handler: DeliveryHandler): void
  /** `http.createServer(hook.node)`, or `app.post('/hook', hook.node)`, before any body parser. */
  readonly node: NodeHandler
  /** For web frameworks: `app.post('/hook', (c) => hook.fetch(c.req.raw))`. */
  readonly fetch: FetchHandler
}

/**
 * Creates a receiver of push notifications: verifies the sender, handles each event once and those of a task in order,
 * and responds 2xx when the handler is done. Throws ConfigError for invalid options, and if they contain no check of
 * the sender.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { webhook } from '@parley/a2a/server'
 *
 * // The agent got this token: agent.start('Long job', { push: { url: 'https://me.example.com/hook', token } })
 * const hook = webhook({ token: 'a secret that the server sends back' })
 * hook.handle(({ taskId, event }) => console.log(taskId, event))
 * createServer(hook.node).listen(8080)
 * ```
 */
export function webhook(options: WebhookOptions): Webhook {
  checkWebhookOptions(options)
  const { log = consoleLog, token, authentication, apiKey } = options
  const settings = { ...webhookDefaults, ...options }
  const checkJwt = options.jwks === undefined ? undefined : createJwtVerifier({ ...settings, jwks: options.jwks })
  const deliveries = createDeliveryDeduplicator(settings.remembered)
  const challenge = (authentication?.scheme ?? 'Bearer').replaceAll(/[^\w-]/g, '')
  let handler: DeliveryHandler | undefined
  let inFlight = 0

  // Its senders authenticate, whatever Host they name.
  const router = { hostError: () => undefined, handle: answer, knows: () => true }
  const listening = { prefix: '', stallMs: defaults.stallMs, stalled() {} }
  return {
    handle: setHandler,
    [Symbol.asyncIterator]() {
      const feed = createDeliveryFeed(() => (handler = undefined))
      setHandler(feed.handler)
      return feed.iterator
    },
    node: createNodeHandler(router, listening),
    fetch: createFetchHandler(router, listening),
  }

  function setHandler(next: DeliveryHandler): void {
    if (handler !== undefined) throw new Error('the webhook already has a handler')
    handler = next
  }

  async function answer(request: HttpRequest): Promise<HttpResponse> {
    inFlight++
    try {
      if (request.method === 'GET' && options.answerChallenges === true) return echoChallenge(request)
      if (request.method !== 'POST') throw new A2AError('METHOD_NOT_ALLOWED', 'Notifications require POST')
      if (inFlight > settings.concurrent) throw new A2AError('RATE_LIMITED', 'Too many notifications at once')
      await receive(request)
      return { status: 204, headers: {}, body: '' }
    } catch (reason) {
      return refusal(A2AError.from(reason))
    } finally {
      inFlight--
    }
  }

  async function receive(request: HttpRequest): Promise<void> {
    // Unknown senders are refused before their body is read.
    await checkSecrets(request)
    const jwt = checkJwt === undefined ? undefined : await checkAuthorization(request, checkJwt)
    const body = await readJson(request, settings)
    if (body === undefined) throw new A2AError('PARSE_ERROR', 'The body is missing')
    if (body.isTooDeep) throw tooDeep()
    // If a body parser ran first, its value is serialized again; that is the body if it has the same hash.
    const hash = jwt === undefined ? undefined : await sha256Hex(body.text ?? JSON.stringify(body.value))
    if (jwt?.bodyHash !== undefined && jwt.bodyHash.toLowerCase() !== hash)
      throw unauthenticated('the body was changed')
    const event = readNotification(body.value, request.header('a2a-version'))
    const taskId = taskIdOf(event) ?? jwt?.taskId
    if (taskId === undefined) throw new A2AError('INVALID_PARAMS', 'The notification names no task')
    if ((jwt?.taskId ?? taskId) !== taskId) throw unauthenticated('the JWT is for another task')
    if (typeof token === 'function') await checkSecret(tokenOf(request), (await token(taskId)) ?? [], 'token')
    if ((await options.expects?.(taskId, event)) === false) {
      throw new A2AError('TASK_NOT_FOUND', 'Unknown task')
    }
    await deliver(request, { taskId, event, jwt, hash })
  }

  async function checkSecrets(request: HttpRequest): Promise<void> {
    const shown = token === undefined ? '' : tokenOf(request)
    // The token of a task can only be compared when the task is known.
    if (token !== undefined && typeof token !== 'function') await checkSecret(shown, token, 'token')
    if (apiKey !== undefined) await checkSecret(request.header(apiKey.header.toLowerCase()), apiKey.key, apiKey.header)
    if (authentication !== undefined) {
      const [, scheme = '', credentials] = /^(\S+) +(.*)$/.exec(request.header('authorization') ?? '') ?? []
      if (scheme.toLowerCase() !== authentication.scheme.toLowerCase()) throw unauthenticated('another scheme')
      await checkSecret(credentials, authentication.credentials, 'credentials')
    }
  }

  async function deliver(
    request: HttpRequest,
    proved: { taskId: string; event: StreamEvent; jwt: VerifiedJwt | undefined; hash: string | undefined },
  ): Promise<void> {
    const { taskId, event, jwt, hash = '' } = proved
    const id = request.header(pushHeaders.eventId.toLowerCase())
    const configId = request.header(pushHeaders.configId.toLowerCase())
    const arrival = {
      taskId,
      event: id === undefined ? undefined : { configId: configId ?? '', id },
      jwt:
        jwt?.replayKey === undefined
          ? undefined
          : { key: jwt.replayKey, iat: jwt.iat, expiresAt: jwtExpiry(jwt.iat, settings.maxAgeMs), body: hash },
    }
    await deliveries.once(arrival, (late) => runHandler({ taskId, event, id, configId, late, claims: jwt?.claims }))
  }

  async function runHandler(about: Omit<Delivery, 'signal'>): Promise<void> {
    const { taskId } = about
    if (handler === undefined) throw new A2AError('UNAVAILABLE', 'No handler is registered')
    const deadline = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const timeUp = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const reason = new A2AError('TIMEOUT', `The handler took longer than ${settings.timeoutMs} ms`, { taskId })
        deadline.abort(reason)
        reject(reason)
      }, settings.timeoutMs)
    })
    try {
      await Promise.race([handler({ ...about, signal: deadline.signal }), timeUp])
    } catch (reason) {
      throw new A2AError('INTERNAL', 'The notification could not be handled', { taskId }, { cause: reason })
    } finally {
      clearTimeout(timer)
    }
  }

  function refusal(error: A2AError): HttpResponse {
    const { http: status } = errorTable[error.code]
    const cause = error.cause === undefined ? {} : { cause: error.cause }
    const about = { ...error.details, status, reason: error.message, ...cause }
    if (status === 500) log.error('a notification could not be handled', about)
    else log.warn('a notification was refused', about)
    // The sender does not learn which check failed.
    const message = status === 401 ? 'Authentication is required' : error.message
    const headers: HttpHeaders = {
      'content-type': 'application/json',
      ...(status === 401 ? { 'www-authenticate': challenge } : {}),
      ...(status === 405 ? { allow: options.answerChallenges === true ? 'GET, POST' : 'POST' } : {}),
      ...(status === 429 || status === 503 ? { 'retry-after': '1' } : {}),
    }
    return { status, headers, body: JSON.stringify({ error: message }) }
  }
}

async function checkAuthorization(
  request: HttpRequest,
  checkJwt: (jwt: string) => Promise<VerifiedJwt>,
): Promise<VerifiedJwt> {
  const jwt = /^bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1]
  if (jwt === undefined) throw unauthenticated('no JWT')
  try {
    return await checkJwt(jwt)
  } catch (reason) {
    throw reason instanceof A2AError ? reason : unauthenticated('the JWT is not valid', reason)
  }
}

async function checkSecret(shown: string | undefined, agreed: string | readonly string[], what: string): Promise<void> {
  if (shown === undefined || !(await matchesAnySecret(shown, [agreed].flat()))) throw unauthenticated(`wrong ${what}`)
}

function tokenOf(request: HttpRequest): string {
  const shown = request.header(pushHeaders.token.toLowerCase())
  if (shown === undefined) throw unauthenticated('no token')
  return shown
}

function unauthenticated(why: string, cause?: unknown): A2AError {
  return new A2AError('UNAUTHENTICATED', why, {}, { cause })
}

/** Responds to a sender that validates this url (T-8). Plain text, so that a browser executes nothing. */
function echoChallenge(request: HttpRequest): HttpResponse {
  const token = new URLSearchParams(request.query).get('validationToken') ?? ''
  if (!/^[\x20-\x7e]{1,1024}$/.test(token))
    throw new A2AError('INVALID_PARAMS', 'validationToken is missing or malformed')
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: token,
  }
}

// Reads a notification of any version: the 1.0 wrapper, or a bare Task or event of 0.x. The shape decides, because most senders
// name no version, and those of 0.x wrap inconsistently (B-121, B-122).

const wrappers = ['task', 'message', 'statusUpdate', 'artifactUpdate', 'status_update', 'artifact_update', 'msg']

export function readNotification(payload: unknown, version: string | undefined): StreamEvent {
  try {
    return dialectOf(payload, version).decodeEvent(payload)
  } catch (reason) {
    // For the sender, its request is malformed, and not the response of a peer.
    const violations = reason instanceof A2AError ? reason.details.violations : undefined
    throw violations === undefined ? reason : invalidParams(violations)
  }
}

function dialectOf(payload: unknown, version: string | undefined): Dialect {
  const old = newestLegacy
  if (!isStruct(payload)) return old.json
  // Only 0.x has `kind`, whatever a header says.
  if (typeof payload['kind'] === 'string') return old.json
  const inner = wrappers.map((name) => payload[name]).find(isStruct)
  if (inner === undefined) return isModern(payload) ? newest.json : old.json
  if (typeof inner['kind'] === 'string') return old.json
  return isLegacyVersion(version ?? '') ? old.proto : newest.json
}

/** A Task without its wrapper, whose state is spelled as in 1.0. */
function isModern(payload: JsonRecord): boolean {
  const status = payload['status']
  const state = isStruct(status) ? status['state'] : undefined
  return typeof state === 'string' && state.startsWith('TASK_STATE_')
}

/** A direct message may name no task. */
export function taskIdOf(event: StreamEvent): string | undefined {
  return 'message' in event ? event.message.taskId : taskIdOfEvent(event)
}

// Verifies that a JWT comes from a trusted sender, is fresh, and is meant for this receiver (B-133, B-134). An unknown key
// triggers another fetch, but not more often than the cooldown allows: invented key ids must not cause requests.

export interface WebhookJwtOptions {
  readonly jwks: string | URL | JSONWebKeySet
  readonly issuer?: string | readonly string[]
  readonly audience?: string | readonly string[]
  readonly maxAgeMs: number
  readonly requiredClaims: readonly string[]
  readonly cooldownMs: number
  readonly fetch?: FetchHandler
}

export interface VerifiedJwt {
  readonly claims: JWTPayload
  /** Seconds since 1970. */
  readonly iat: number
  readonly taskId: string | undefined
  readonly bodyHash: string | undefined
  /** Unique for this JWT, if the sender sets `jti`. */
  readonly replayKey: string | undefined
}

/** Allowed difference between clocks. */
const toleranceSeconds = 10

export function createJwtVerifier(options: WebhookJwtOptions): (jwt: string) => Promise<VerifiedJwt> {
  let opened: Promise<VerifyingKeys> | undefined

  return async (jwt) => {
    const keys = await (opened ??= openVerifyingKeys({ ...options, unknownIsUnavailable: true }))
    const { jwtVerify } = await import('jose')
    const { issuer, audience, maxAgeMs, requiredClaims } = options
    const { payload } = await keys.verifyWith((key) =>
      jwtVerify(jwt, key, {
        algorithms: [...algorithms],
        clockTolerance: toleranceSeconds,
        maxTokenAge: maxAgeMs / 1_000,
        requiredClaims: ['iat', ...requiredClaims],
        ...(issuer !== undefined ? { issuer: [issuer].flat() } : {}),
        ...(audience !== undefined ? { audience: [audience].flat() } : {}),
      }),
    )
    return {
      claims: payload,
      iat: payload.iat ?? 0,
      taskId: textClaim(payload, pushClaims.taskId),
      bodyHash: textClaim(payload, pushClaims.bodyHash),
      replayKey: payload.jti === undefined ? undefined : JSON.stringify([payload.iss, payload.jti]),
    }
  }
}

/** When a JWT with the longest validity has expired. */
export function jwtExpiry(iat: number, maxAgeMs: number): number {
  return (iat + toleranceSeconds) * 1_000 + maxAgeMs
}

function textClaim(payload: JWTPayload, name: string): string | undefined {
  const value = payload[name]
  if (value === undefined || typeof value === 'string') return value
  throw new A2AError('UNAUTHENTICATED', `the claim ${name} is not a string`)
}

// Notifications as an async iterable. Requesting the next one acknowledges the last one to its sender; leaving the loop, by
// `break` or by an error, leaves the current one unacknowledged, so that it is sent again.

export interface DeliveryFeed {
  readonly handler: DeliveryHandler
  readonly iterator: AsyncIterator<Delivery, undefined>
}

interface PendingDelivery {
  readonly delivery: Delivery
  done(): void
  undone(): void
}

export function createDeliveryFeed(ended: () => void): DeliveryFeed {
  const queue: PendingDelivery[] = []
  let asking: ((result: IteratorResult<Delivery, undefined>) => void) | undefined
  let inHand: PendingDelivery | undefined
  let isOver = false

  const handler: DeliveryHandler = (delivery) =>
    new Promise<void>((resolve, reject) => {
      const waiting: PendingDelivery = {
        delivery,
        done: resolve,
        undone: () => reject(new Error('The notification was not handled')),
      }
      if (asking === undefined) queue.push(waiting)
      else hand(waiting)
      delivery.signal.addEventListener('abort', () => {
        const at = queue.indexOf(waiting)
        if (at >= 0) queue.splice(at, 1)
        waiting.undone()
      })
    })

  function hand(waiting: PendingDelivery): void {
    const give = asking
    asking = undefined
    inHand = waiting
    give?.({ done: false, value: waiting.delivery })
  }

  return {
    handler,
    iterator: {
      next() {
        inHand?.done()
        inHand = undefined
        if (isOver) return Promise.resolve({ done: true, value: undefined })
        return new Promise((resolve) => {
          asking = resolve
          const first = queue.shift()
          if (first !== undefined) hand(first)
        })
      },
      return() {
        isOver = true
        ended()
        asking?.({ done: true, value: undefined })
        for (const waiting of [...(inHand === undefined ? [] : [inHand]), ...queue.splice(0)]) waiting.undone()
        inHand = undefined
        return Promise.resolve({ done: true, value: undefined })
      },
    },
  }
}
