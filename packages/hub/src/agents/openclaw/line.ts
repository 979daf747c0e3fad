/**
 * One connection to a gateway, from the challenge to its end. A client of our own rather than the published one, which
 * reads the environment, refuses plain `ws` to host names of a container network, and stops watching for ticks while a
 * request is under way.
 */
import { A2AError } from '@parley/a2a'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'
import { readHello } from './hello.ts'
import type { Hello } from './hello.ts'
import { fieldsOf, numberIn, readFrame, textIn } from './wire.ts'
import type { Answer, Fields, GatewayEvent, Refusal } from './wire.ts'

export interface Challenge {
  readonly nonce: string
  /** The gateway's clock: a signature is dated by it. */
  readonly ts: number
}

export interface LineOptions {
  readonly url: string
  readonly connect: (challenge: Challenge) => Fields
  readonly onEvent: (event: GatewayEvent) => void
  /** From the first byte to being let in. */
  readonly openTimeoutMs: number
  /** JSON values in one frame. Default 100,000. */
  readonly jsonNodes?: number | undefined
}

export type Opening =
  | { readonly line: Line }
  | { readonly refused: Refusal }
  /** There is nobody, or nobody who speaks this protocol. */
  | { readonly failed: string }

export interface Line {
  readonly hello: Hello
  readonly isOpen: () => boolean
  /** Resolves with why it ended. */
  readonly ended: Promise<string>
  request(method: string, params: Fields, options?: RequestOptions): Promise<Answer>
  close(): void
}

export interface RequestOptions {
  readonly timeoutMs?: number
  /** Whose trace it belongs to (W3C Trace Context). */
  readonly traceparent?: string | undefined
  /** A run is answered twice under one id: when it was accepted, and when it ended. */
  readonly later?: (answer: Answer) => void
}

interface Pending {
  readonly settle: (answer: Answer) => void
  readonly fail: (reason: A2AError) => void
  readonly later: ((answer: Answer) => void) | undefined
  isAccepted: boolean
}

const requestTimeoutMs = 30_000
/** What clients of this protocol say when the gateway has gone silent. */
const silentCode = 4_000

export function openLine(options: LineOptions): Promise<Opening> {
  const opening = Promise.withResolvers<Opening>()
  const ended = Promise.withResolvers<string>()
  const pending = new Map<string, Pending>()
  const socket = new WebSocket(options.url)
  let lastId = 0
  let heardAt = performance.now()
  let hello: Hello | undefined
  let watchdog: NodeJS.Timeout | undefined
  let trouble = 'the connection could not be opened'

  const tooLate = setTimeout(() => end('no answer to the handshake in time'), options.openTimeoutMs)
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') receive(data)
  })
  socket.addEventListener('error', (event) => {
    trouble = (event as { readonly message?: string }).message || trouble
  })
  socket.addEventListener('close', ({ code, reason }) => {
    end(hello === undefined && code === 1006 ? trouble : `closed with ${code}${reason === '' ? '' : ` (${reason})`}`)
  })
  return opening.promise

  function receive(text: string): void {
    heardAt = performance.now()
    const jsonNodes = options.jsonNodes ?? defaultJsonNodes
    if (exceedsJsonNodes(text, jsonNodes)) return end(`it sent a frame of more than ${jsonNodes} JSON values`)
    const frame = readFrame(text)
    if (frame === undefined) return
    if ('answer' in frame) answered(frame.id, frame.answer)
    else if (frame.event.event === 'connect.challenge') introduce(frame.event.payload)
    else options.onEvent(frame.event)
  }

  function introduce(challenge: Fields): void {
    if (lastId > 0) return
    const asked = options.connect({
      nonce: textIn(challenge, 'nonce') ?? '',
      ts: numberIn(challenge, 'ts') ?? Date.now(),
    })
    request('connect', asked, { timeoutMs: options.openTimeoutMs }).then(welcomed, (reason: Error) => {
      opening.resolve({ failed: reason.message })
      end('refused')
    })
  }

  function welcomed(answer: Answer): void {
    if (!answer.ok) {
      opening.resolve({ refused: answer.error })
      end('refused')
      return
    }
    clearTimeout(tooLate)
    hello = readHello(answer.payload)
    watchdog = setInterval(watch, hello.tickMs, hello.tickMs).unref()
    opening.resolve({ line: { hello, isOpen, ended: ended.promise, request, close: () => end('closed by us') } })
  }

  /** A gateway that lives ticks; one that has not for twice that long is gone, though nobody closed the connection. */
  function watch(tickMs: number): void {
    if (performance.now() - heardAt > tickMs * 2) end('the gateway went silent', silentCode)
  }

  function isOpen(): boolean {
    return socket.readyState === WebSocket.OPEN
  }

  function request(
    method: string,
    params: Fields,
    { timeoutMs = requestTimeoutMs, later, traceparent }: RequestOptions = {},
  ) {
    return new Promise<Answer>((resolve, reject) => {
      if (!isOpen()) return reject(brokenOff('the connection is closed'))
      lastId += 1
      const id = String(lastId)
      const text = JSON.stringify({ type: 'req', id, method, params, traceparent })
      const timer = setTimeout(() => {
        pending.delete(id)
        reject(new A2AError('TIMEOUT', 'The OpenClaw gateway did not answer in time', {}, { cause: new Error(method) }))
      }, timeoutMs)
      const settled = (): void => clearTimeout(timer)
      pending.set(id, {
        settle: (answer) => (settled(), resolve(answer)),
        fail: (reason) => (settled(), reject(reason)),
        later,
        isAccepted: false,
      })
      socket.send(text)
    })
  }

  function answered(id: string, answer: Answer): void {
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
    clearTimeout(tooLate)
    clearInterval(watchdog)
    if (socket.readyState <= WebSocket.OPEN) socket.close(code)
    opening.resolve({ failed: why })
    ended.resolve(why)
    for (const waiting of pending.values()) if (!waiting.isAccepted) waiting.fail(brokenOff(why))
    pending.clear()
  }
}

function brokenOff(why: string): A2AError {
  return new A2AError('INTERRUPTED', 'The connection to the OpenClaw gateway broke off', {}, { cause: new Error(why) })
}

/** The session that an event is about; nothing for those that are about none. */
export function sessionOf({ payload }: GatewayEvent): string | undefined {
  return textIn(payload, 'sessionKey') ?? textIn(fieldsOf(payload['request']), 'sessionKey')
}
