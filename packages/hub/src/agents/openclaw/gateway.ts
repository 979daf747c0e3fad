/**
 * A gateway as the agents of this hub see it: one connection for all that know it by the same address and credentials,
 * made again whenever it breaks. Whoever runs a turn listens to the events of its session, and hears when the connection
 * was lost; what became of the turn meanwhile is for it to find out.
 */
import { A2AError } from '@parley/a2a'
import type { AgentLog } from '@parley/a2a'
import {
  comesBackIn,
  connectParams,
  forgotDevice,
  notAllowed,
  refusedBy,
  unreachable,
  wantsDeviceToken,
} from './connect.ts'
import type { Credentials } from './connect.ts'
import type { Device, DeviceTokens } from './device.ts'
import { openLine, sessionOf } from './line.ts'
import type { Line, Opening } from './line.ts'
import { textIn } from './wire.ts'
import type { GatewayEvent, Refusal } from './wire.ts'

export interface GatewayOptions {
  readonly url: string
  readonly credentials: Credentials
  readonly approvals: boolean
  readonly device: () => Promise<Device | undefined>
  readonly tokens: DeviceTokens
  readonly log: AgentLog
  /** JSON values in one frame. */
  readonly jsonNodes?: number | undefined
}

export interface Listener {
  event(event: GatewayEvent): void
  /** Events of this connection were lost on the way. */
  gap(expected: number, received: number): void
  lost(why: string): void
}

export interface Gateway {
  /** The connection, made now if there is none. Rejects with why there cannot be one. */
  line(signal: AbortSignal): Promise<Line>
  /** The next connection that comes to be, however long that takes. */
  nextLine(signal: AbortSignal): Promise<Line>
  /** Events of a session, or of a run where they name no session. */
  listen(about: { readonly sessionKey: string; readonly runId: string }, listener: Listener): () => void
  close(): void
}

const openTimeoutMs = 15_000
const firstPauseMs = 1_000
const longestPauseMs = 30_000
/** Somebody who has to act is not that fast, and gateways lock out whoever knocks too often. */
const refusedPauseMs = 5_000
const startingMs = 30_000

export function openGateway(options: GatewayOptions): Gateway {
  const { url, log, tokens } = options
  const listeners = new Map<string, Set<Listener>>()
  const waiting = new Set<PromiseWithResolvers<Line>>()
  let line: Line | undefined
  let opening: Promise<Line> | undefined
  let again: NodeJS.Timeout | undefined
  let failures = 0
  let refused: { readonly reason: A2AError; readonly at: number } | undefined
  let lastSeq: number | undefined
  let isClosed = false

  return {
    line: (signal) => orLeave(current(), signal),
    nextLine,
    listen,
    close() {
      isClosed = true
      clearTimeout(again)
      line?.close()
      for (const { reject } of waiting) reject(closed())
      waiting.clear()
    },
  }

  function current(): Promise<Line> {
    if (line?.isOpen() === true) return Promise.resolve(line)
    if (refused !== undefined && performance.now() - refused.at < refusedPauseMs) return Promise.reject(refused.reason)
    opening ??= open().finally(() => (opening = undefined))
    return opening
  }

  async function open(): Promise<Line> {
    clearTimeout(again)
    try {
      const made = await knock(performance.now() + startingMs)
      if (isClosed) made.close()
      failures = 0
      refused = undefined
      attach(made)
      return made
    } catch (reason) {
      const error = A2AError.from(reason)
      failures += 1
      if (error.details.cause !== 'UNREACHABLE') refused = { reason: error, at: performance.now() }
      if (failures === 1) log.warn('the OpenClaw gateway cannot be used', { url: shownUrl(url), cause: error })
      comeBack()
      throw error
    }
  }

  /** Until somebody opens, or says no. */
  async function knock(deadline: number): Promise<Line> {
    const device = await options.device()
    const deviceToken = device === undefined ? undefined : await tokens.read(url)
    let credentials: Credentials & { deviceToken?: string | undefined } = { ...options.credentials, deviceToken }
    for (;;) {
      lastSeq = undefined
      const introduction = { credentials, device, approvals: options.approvals }
      const opened: Opening = await openLine({
        url,
        openTimeoutMs,
        jsonNodes: options.jsonNodes,
        onEvent: spread,
        connect: (challenge) => connectParams(challenge, introduction),
      })
      if ('line' in opened) return welcomed(opened.line)
      if ('failed' in opened) throw unreachable(opened.failed)
      const pauseMs = comesBackIn(opened.refused)
      if (pauseMs !== undefined && performance.now() + pauseMs < deadline && !isClosed) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
      } else if (wantsDeviceToken(opened.refused) && deviceToken !== undefined && credentials.token !== undefined) {
        credentials = { deviceToken }
      } else throw await refusal(opened.refused)
    }
  }

  async function refusal(given: Refusal): Promise<A2AError> {
    if (forgotDevice(given)) await tokens.forget(url)
    return comesBackIn(given) === undefined ? refusedBy(given) : unreachable(`${given.code}: ${given.message}`)
  }

  async function welcomed(made: Line): Promise<Line> {
    const { scopes, deviceToken } = made.hello
    if (deviceToken !== undefined) await tokens.keep(url, deviceToken)
    if (scopes.includes('operator.write') || scopes.includes('operator.admin')) return made
    made.close()
    throw notAllowed(scopes)
  }

  function attach(made: Line): void {
    line = made
    log.info('connected to the OpenClaw gateway', { url: shownUrl(url), version: made.hello.version })
    for (const { resolve } of waiting) resolve(made)
    waiting.clear()
    void made.ended.then((why) => {
      if (line === made) line = undefined
      if (isClosed) return
      log.info('the connection to the OpenClaw gateway ended', { url: shownUrl(url), why })
      for (const listener of everybody()) listener.lost(why)
      comeBack()
    })
  }

  /** Soon at first, then ever less often, and not all hubs at once. */
  function comeBack(): void {
    if (isClosed) return
    clearTimeout(again)
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.max(0, failures - 1)) * (0.5 + Math.random() / 2)
    const refusedMs = refused === undefined ? 0 : longestPauseMs
    again = setTimeout(tryAgain, failures === 0 ? 100 : Math.max(pauseMs, refusedMs)).unref()
  }

  /** What fails is told to those who ask for a line. */
  function tryAgain(): void {
    current().catch(() => {})
  }

  function nextLine(signal: AbortSignal): Promise<Line> {
    if (line?.isOpen() === true) return Promise.resolve(line)
    if (isClosed) return Promise.reject(closed())
    const next = Promise.withResolvers<Line>()
    waiting.add(next)
    return orLeave(next.promise, signal).finally(() => waiting.delete(next))
  }

  function listen(about: { readonly sessionKey: string; readonly runId: string }, listener: Listener): () => void {
    const keys = [about.sessionKey, about.runId]
    for (const key of keys) listeners.set(key, (listeners.get(key) ?? new Set()).add(listener))
    return () => {
      for (const key of keys) {
        const set = listeners.get(key)
        set?.delete(listener)
        if (set?.size === 0) listeners.delete(key)
      }
    }
  }

  function spread(event: GatewayEvent): void {
    const { seq } = event
    if (seq !== undefined) {
      const expected = (lastSeq ?? seq - 1) + 1
      if (seq > expected) for (const listener of everybody()) listener.gap(expected, seq)
      lastSeq = seq
    }
    const key = sessionOf(event) ?? textIn(event.payload, 'runId') ?? textIn(event.payload, 'id')
    if (key !== undefined) for (const listener of listeners.get(key) ?? []) listener.event(event)
  }

  function everybody(): Set<Listener> {
    return new Set([...listeners.values()].flatMap((set) => [...set]))
  }
}

/** A connection that is shared does not end because one of those who wait for it leaves. */
function orLeave<T>(value: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error)
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', leave, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

function closed(): A2AError {
  return new A2AError('UNAVAILABLE', 'The agent is closed')
}

/** Without what somebody may have written into it. */
function shownUrl(url: string): string {
  return new URL(url).origin
}
