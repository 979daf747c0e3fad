/**
 * One connection to a gateway, from the challenge to its end. The published client is not used: it reads the environment,
 * refuses plain `ws` to host names of a container network, and stops watching for ticks while a request is pending.
 */
import { A2AError } from '@parley/a2a'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/internal'
import { watchConnectErrors } from '../../connect-errors.ts'
import { asFields, numberField, parseFrame, stringField } from './frames.ts'
import type { GatewayResponse, GatewayFields, GatewayEvent, GatewayError } from './frames.ts'
import { type Hello, readHello } from './hello.ts'

export interface Challenge {
  readonly nonce: string
  /** The gateway's clock, which dates the signature. */
  readonly ts: number
}

export interface OpenClawConnectionOptions {
  readonly url: string
  readonly connect: (challenge: Challenge) => GatewayFields
  readonly onEvent: (event: GatewayEvent) => void
  /** From the first byte to the accepted handshake. */
  readonly openTimeoutMs: number
  /** Limit of JSON values in one frame. Default 100,000. */
  readonly jsonNodes?: number | undefined
}

export type ConnectionAttempt =
  | { readonly line: OpenClawConnection }
  | { readonly refused: GatewayError }
  /** No server answered, or it does not support this protocol. */
  | { readonly failed: string }

export interface OpenClawConnection {
  readonly hello: Hello
  readonly isOpen: () => boolean
  /** Resolves with the reason when the connection ends. */
  readonly ended: Promise<string>
  request(method: string, params: GatewayFields, options?: GatewayRequestOptions): Promise<GatewayResponse>
  close(): void
}

export interface GatewayRequestOptions {
  readonly timeoutMs?: number
  /** The trace that the request belongs to (W3C Trace Context). */
  readonly traceparent?: string | undefined
  /** A run is answered twice under one id: when it is accepted, and when it ends. */
  readonly onSecondResponse?: (answer: GatewayResponse) => void
}

interface PendingRequest {
  readonly settle: (answer: GatewayResponse) => void
  readonly fail: (reason: A2AError) => void
  readonly later: ((answer: GatewayResponse) => void) | undefined
  isAccepted: boolean
}

const requestTimeoutMs = 30_000
/** The close code that clients of this protocol use for a silent gateway. */
const silenceCloseCode = 4_000

export function openOpenClawConnection(options: OpenClawConnectionOptions): Promise<ConnectionAttempt> {
  const opening = Promise.withResolvers<ConnectionAttempt>()
  const ended = Promise.withResolvers<string>()
  const pending = new Map<string, PendingRequest>()
  let lastError = 'the connection could not be opened'
  const connectErrors = watchConnectErrors(options.url, (message) => (lastError = message))
  const socket = new WebSocket(options.url)
  let lastId = 0
  let lastFrameAt = performance.now()
  let hello: Hello | undefined
  let watchdog: NodeJS.Timeout | undefined

  const openTimer = setTimeout(() => end('the handshake timed out'), options.openTimeoutMs)
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') receive(data)
  })
  socket.addEventListener('error', (event) => {
    lastError = (event as { readonly message?: string }).message || lastError
  })
  socket.addEventListener('close', ({ code, reason }) => {
    end(hello === undefined && code === 1006 ? lastError : `closed with ${code}${reason === '' ? '' : ` (${reason})`}`)
  })
  return opening.promise

  function receive(text: string): void {
    lastFrameAt = performance.now()
    const jsonNodes = options.jsonNodes ?? defaultJsonNodes
    if (exceedsJsonNodes(text, jsonNodes)) return end(`it sent a frame of more than ${jsonNodes} JSON values`)
    const frame = parseFrame(text)
    if (frame === undefined) return
    if ('answer' in frame) answered(frame.id, frame.answer)
    else if (frame.event.event === 'connect.challenge') sendConnect(frame.event.payload)
    else options.onEvent(frame.event)
  }

  function sendConnect(challenge: GatewayFields): void {
    if (lastId > 0) return
    const asked = options.connect({
      nonce: stringField(challenge, 'nonce') ?? '',
      ts: numberField(challenge, 'ts') ?? Date.now(),
    })
    request('connect', asked, { timeoutMs: options.openTimeoutMs }).then(onConnected, (reason: Error) => {
      opening.resolve({ failed: reason.message })
      end('refused')
    })
  }

  function onConnected(answer: GatewayResponse): void {
    if (!answer.ok) {
      opening.resolve({ refused: answer.error })
      end('refused')
      return
    }
    clearTimeout(openTimer)
    connectErrors.close()
    hello = readHello(answer.payload)
    watchdog = setInterval(watch, hello.tickMs, hello.tickMs).unref()
    opening.resolve({ line: { hello, isOpen, ended: ended.promise, request, close: () => end('closed by us') } })
  }

  /** A gateway sends ticks. If none arrives for twice the interval, the connection is dead although it was never closed. */
  function watch(tickMs: number): void {
    if (performance.now() - lastFrameAt > tickMs * 2) end('the gateway went silent', silenceCloseCode)
  }

  function isOpen(): boolean {
    return socket.readyState === WebSocket.OPEN
  }

  function request(
    method: string,
    params: GatewayFields,
    { timeoutMs = requestTimeoutMs, onSecondResponse, traceparent }: GatewayRequestOptions = {},
  ) {
    return new Promise<GatewayResponse>((resolve, reject) => {
      if (!isOpen()) return reject(connectionLost('the connection is closed'))
      lastId += 1
      const id = String(lastId)
      const text = JSON.stringify({ type: 'req', id, method, params, traceparent })
      const timer = setTimeout(() => {
        pending.delete(id)
        reject(
          new A2AError('TIMEOUT', 'The OpenClaw gateway did not respond in time', {}, { cause: new Error(method) }),
        )
      }, timeoutMs)
      const settled = (): void => clearTimeout(timer)
      pending.set(id, {
        settle: (answer) => (settled(), resolve(answer)),
        fail: (reason) => (settled(), reject(reason)),
        later: onSecondResponse,
        isAccepted: false,
      })
      socket.send(text)
    })
  }

  function answered(id: string, answer: GatewayResponse): void {
    const waiting = pending.get(id)
    if (waiting === undefined) return
    if (waiting.isAccepted) {
      pending.delete(id)
      waiting.later?.(answer)
      return
    }
    if (waiting.later !== undefined && answer.ok && answer.payload['status'] === 'accepted') waiting.isAccepted = true
    else pending.delete(id)
    waiting.settle(answer)
  }

  function end(why: string, code = 1_000): void {
    clearTimeout(openTimer)
    connectErrors.close()
    clearInterval(watchdog)
    if (socket.readyState <= WebSocket.OPEN) socket.close(code)
    opening.resolve({ failed: why })
    ended.resolve(why)
    for (const waiting of pending.values()) if (!waiting.isAccepted) waiting.fail(connectionLost(why))
    pending.clear()
  }
}

function connectionLost(why: string): A2AError {
  return new A2AError('INTERRUPTED', 'The connection to the OpenClaw gateway broke off', {}, { cause: new Error(why) })
}

/** The session of an event; undefined if it has none. */
export function eventSessionKey({ payload }: GatewayEvent): string | undefined {
  return stringField(payload, 'sessionKey') ?? stringField(asFields(payload['request']), 'sessionKey')
}
