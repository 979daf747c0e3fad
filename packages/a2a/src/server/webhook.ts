/**
 * The receiving end of push notifications: proves who sent one, reads it whatever its version, hands each out once and
 * those of a task in order, and answers 2xx only when the handler is done, so that a sender that retries loses nothing.
 */
import type { HttpHeaders, HttpRequest, HttpResponse } from '../bindings/http.ts'
import { readJson, tooDeep } from '../bindings/json-body.ts'
import { A2AError } from '../model/error.ts'
import { errorTable } from '../model/error-table.ts'
import { pushHeaders } from '../model/push.ts'
import type { StreamEvent } from '../model/task.ts'
import * as defaults from './defaults.ts'
import { createFetchHandler, type FetchHandler } from './fetch.ts'
import { consoleLog } from './log.ts'
import { createNodeHandler, type NodeHandler } from './node-adapter.ts'
import type { Delivery, DeliveryHandler } from './webhook-delivery.ts'
import { createDeliveries } from './webhook-deliveries.ts'
import { createFeed } from './webhook-feed.ts'
import { createJwtCheck, expiryOf, type ShownJwt } from './webhook-jwt.ts'
import { checkWebhookOptions, type WebhookOptions, webhookDefaults } from './webhook-options.ts'
import { readNotification, taskIdOf } from './webhook-payload.ts'
import { isOneOf, sha256Hex } from './webhook-secret.ts'

/** Also to be looped over: `for await (const { taskId, event } of hook)`. Either, not both. */
export interface Webhook extends AsyncIterable<Delivery> {
  handle(handler: DeliveryHandler): void
  /** `http.createServer(hook.node)`, or `app.post('/hook', hook.node)`, before anything that parses bodies. */
  readonly node: NodeHandler
  readonly fetch: FetchHandler
}

export function webhook(options: WebhookOptions): Webhook {
  checkWebhookOptions(options)
  const { log = consoleLog, token, authentication, apiKey } = options
  const settings = { ...webhookDefaults, ...options }
  const checkJwt = options.jwks === undefined ? undefined : createJwtCheck({ ...settings, jwks: options.jwks })
  const deliveries = createDeliveries(settings.remembered)
  const challenge = (authentication?.scheme ?? 'Bearer').replaceAll(/[^\w-]/g, '')
  let handler: DeliveryHandler | undefined
  let inHand = 0

  const router = { handle: answer, knows: () => true }
  const listening = { prefix: '', stallMs: defaults.stallMs, stalled() {} }
  return {
    handle: take,
    [Symbol.asyncIterator]() {
      const feed = createFeed(() => (handler = undefined))
      take(feed.handler)
      return feed.iterator
    },
    node: createNodeHandler(router, listening),
    fetch: createFetchHandler(router, listening),
  }

  function take(next: DeliveryHandler): void {
    if (handler !== undefined) throw new Error('the webhook has a handler already')
    handler = next
  }

  async function answer(request: HttpRequest): Promise<HttpResponse> {
    inHand++
    try {
      if (request.method === 'GET' && options.answerChallenges === true) return echo(request)
      if (request.method !== 'POST') throw new A2AError('METHOD_NOT_ALLOWED', 'Notifications are posted')
      if (inHand > settings.concurrent) throw new A2AError('RATE_LIMITED', 'Too many notifications at once')
      await receive(request)
      return { status: 204, headers: {}, body: '' }
    } catch (reason) {
      return refusal(A2AError.from(reason))
    } finally {
      inHand--
    }
  }

  async function receive(request: HttpRequest): Promise<void> {
    // Strangers are sent away before their body is read.
    await checkSecrets(request)
    const jwt = checkJwt === undefined ? undefined : await checkAuthorization(request, checkJwt)
    const body = await readJson(request, settings)
    if (body === undefined) throw new A2AError('PARSE_ERROR', 'There is no body')
    if (body.isTooDeep) throw tooDeep()
    // Where a body parser was first, its value written anew is the body if it has the same hash.
    const hash = jwt === undefined ? undefined : await sha256Hex(body.text ?? JSON.stringify(body.value))
    if (jwt?.bodyHash !== undefined && jwt.bodyHash.toLowerCase() !== hash) throw unproved('the body was changed')
    const event = readNotification(body.value, request.header('a2a-version'))
    const taskId = taskIdOf(event) ?? jwt?.taskId
    if (taskId === undefined) throw new A2AError('INVALID_PARAMS', 'The notification names no task')
    if ((jwt?.taskId ?? taskId) !== taskId) throw unproved('the JWT is for another task')
    if (typeof token === 'function') await check(tokenOf(request), (await token(taskId)) ?? [], 'token')
    if ((await options.expects?.(taskId, event)) === false) {
      throw new A2AError('TASK_NOT_FOUND', 'Nobody here expects this task')
    }
    await deliver(request, { taskId, event, jwt, hash })
  }

  async function checkSecrets(request: HttpRequest): Promise<void> {
    const shown = token === undefined ? '' : tokenOf(request)
    // That of a task can only be compared when the task is known.
    if (token !== undefined && typeof token !== 'function') await check(shown, token, 'token')
    if (apiKey !== undefined) await check(request.header(apiKey.header.toLowerCase()), apiKey.key, apiKey.header)
    if (authentication !== undefined) {
      const [, scheme = '', credentials] = /^(\S+) +(.*)$/.exec(request.header('authorization') ?? '') ?? []
      if (scheme.toLowerCase() !== authentication.scheme.toLowerCase()) throw unproved('another scheme')
      await check(credentials, authentication.credentials, 'credentials')
    }
  }

  async function deliver(
    request: HttpRequest,
    proved: { taskId: string; event: StreamEvent; jwt: ShownJwt | undefined; hash: string | undefined },
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
          : { key: jwt.replayKey, iat: jwt.iat, expiresAt: expiryOf(jwt.iat, settings.maxAgeMs), body: hash },
    }
    await deliveries.once(arrival, (late) => hand({ taskId, event, id, configId, late, claims: jwt?.claims }))
  }

  async function hand(about: Omit<Delivery, 'signal'>): Promise<void> {
    const { taskId } = about
    if (handler === undefined) throw new A2AError('UNAVAILABLE', 'Nobody takes notifications now')
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
    const about = { ...error.details, status, reason: error.message, cause: error.cause }
    if (status === 500) log.error('a notification could not be handled', about)
    else log.warn('a notification was refused', about)
    // What exactly is wrong with a proof is for us to know.
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
  checkJwt: (jwt: string) => Promise<ShownJwt>,
): Promise<ShownJwt> {
  const jwt = /^bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1]
  if (jwt === undefined) throw unproved('no JWT')
  try {
    return await checkJwt(jwt)
  } catch (reason) {
    throw reason instanceof A2AError ? reason : unproved('the JWT is not good', reason)
  }
}

async function check(shown: string | undefined, agreed: string | readonly string[], what: string): Promise<void> {
  if (shown === undefined || !(await isOneOf(shown, [agreed].flat()))) throw unproved(`wrong ${what}`)
}

function tokenOf(request: HttpRequest): string {
  const shown = request.header(pushHeaders.token.toLowerCase())
  if (shown === undefined) throw unproved('no token')
  return shown
}

function unproved(why: string, cause?: unknown): A2AError {
  return new A2AError('UNAUTHENTICATED', why, {}, { cause })
}

/** A sender that was given this url asks whether somebody here awaits it (T-8). Plain text, so that nothing runs in a browser. */
function echo(request: HttpRequest): HttpResponse {
  const token = new URLSearchParams(request.query).get('validationToken') ?? ''
  if (!/^[\x20-\x7e]{1,1024}$/.test(token)) throw new A2AError('INVALID_PARAMS', 'validationToken is missing or odd')
  return {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: token,
  }
}
