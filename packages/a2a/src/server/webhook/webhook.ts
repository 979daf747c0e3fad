/**
 * Receives push notifications: verifies the sender, reads any version, handles each once and those of a task in order, and responds
 * 2xx only when the handler is done, so that a sender that retries loses nothing.
 */
import type { HttpHeaders, HttpRequest, HttpResponse } from '../../bindings/http.ts'
import { readJson, tooDeep } from '../../bindings/json-body.ts'
import { A2AError } from '../../model/error.ts'
import { errorTable } from '../../model/error-table.ts'
import { pushHeaders } from '../../model/push-headers.ts'
import type { StreamEvent } from '../../model/task.ts'
import * as defaults from '../defaults.ts'
import { createFetchHandler, type FetchHandler } from '../http/fetch-adapter.ts'
import { consoleLog } from '../console-log.ts'
import { createNodeHandler, type NodeHandler } from '../http/node-adapter.ts'
import type { Delivery, DeliveryHandler } from './delivery.ts'
import { createDeliveryDeduplicator } from './dedupe-deliveries.ts'
import { createDeliveryFeed } from './delivery-feed.ts'
import { createJwtVerifier, jwtExpiry, type VerifiedJwt } from './verify-jwt.ts'
import { checkWebhookOptions, type WebhookOptions, webhookDefaults } from './webhook-options.ts'
import { readNotification, taskIdOf } from './read-notification.ts'
import { matchesAnySecret, sha256Hex } from '../keys/compare-secrets.ts'

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
