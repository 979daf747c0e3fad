/**
 * A gateway as the agents of this hub see it: one connection per address and credentials, reopened whenever it breaks. A
 * turn listens to the events of its session and is notified when the connection was lost. It then finds out itself what
 * became of its run.
 */
import { A2AError, type AgentLog } from '@parley/a2a'
import { backoffMs, abortable } from '@parley/a2a/internal'
import type { KeyValueStore } from '@parley/a2a/stores'
import {
  refusalRetryMs,
  connectParams,
  isDeviceForgotten,
  missingScopesError,
  refusalError,
  gatewayUnreachable,
  isDeviceTokenRequested,
  type GatewayCredentials,
} from './handshake.ts'
import type { Device, DeviceTokens } from './device.ts'
import { openOpenClawConnection, eventSessionKey } from './connection.ts'
import type { OpenClawConnection, ConnectionAttempt } from './connection.ts'
import type { GatewayLimits } from './hello.ts'
import { stringField, type GatewayEvent, type GatewayError } from './frames.ts'

interface GatewayOptions {
  readonly url: string
  readonly credentials: GatewayCredentials
  readonly approvals: boolean
  readonly device: () => Promise<Device | undefined>
  readonly tokens: DeviceTokens
  readonly log: AgentLog
  /** Limit of JSON values in one frame. */
  readonly jsonNodes?: number | undefined
}

export interface GatewayListener {
  onEvent(event: GatewayEvent): void
  /** Events of this connection were lost. */
  onGap(expected: number, received: number): void
  onLost(why: string): void
}

export interface Gateway {
  /** The connection, opened now if there is none. Rejects with the reason if it cannot be opened. */
  connection(signal: AbortSignal): Promise<OpenClawConnection>
  /** Why there is no connection, if the last attempt failed. A call may cause the next attempt, and does not wait for it. */
  failure(): A2AError | undefined
  /** Calls the listener after every attempt that failed. */
  onFailure(listener: (reason: A2AError) => void): () => void
  /** The limits that the gateway declared last. */
  limits(): GatewayLimits | undefined
  /** The next connection that opens, however long that takes. */
  nextConnection(signal: AbortSignal): Promise<OpenClawConnection>
  /** Listens to the events of a session, or of a run if they name no session. */
  listen(about: { readonly sessionKey: string; readonly runId: string }, listener: GatewayListener): () => void
  close(): void
}

const openTimeoutMs = 15_000
const firstPauseMs = 1_000
const longestPauseMs = 30_000
/** The operator cannot fix a refusal faster, and gateways lock out clients that retry too often. */
const refusedPauseMs = 5_000
const startingMs = 30_000

function openGateway(options: GatewayOptions): Gateway {
  const { url, log, tokens } = options
  const listeners = new Map<string, Set<GatewayListener>>()
  const failureListeners = new Set<(reason: A2AError) => void>()
  const waiting = new Set<PromiseWithResolvers<OpenClawConnection>>()
  let connection: OpenClawConnection | undefined
  let opening: Promise<OpenClawConnection> | undefined
  let again: NodeJS.Timeout | undefined
  let failures = 0
  /** The last attempt, if it failed. */
  let failed: { readonly reason: A2AError; readonly at: number } | undefined
  let limits: GatewayLimits | undefined
  let lastSeq: number | undefined
  let isClosed = false

  return {
    // A shared connection attempt continues when one of its waiting callers aborts.
    connection: (signal) => abortable(signal, current()),
    failure() {
      if (failed !== undefined && performance.now() - failed.at > firstPauseMs) reconnect()
      return failed?.reason
    },
    onFailure(listener) {
      failureListeners.add(listener)
      return () => failureListeners.delete(listener)
    },
    limits: () => limits,
    nextConnection,
    listen,
    close() {
      isClosed = true
      clearTimeout(again)
      connection?.close()
      for (const { reject } of waiting) reject(closed())
      waiting.clear()
    },
  }

  function current(): Promise<OpenClawConnection> {
    if (connection?.isOpen() === true) return Promise.resolve(connection)
    const refusal = lastRefusal()
    if (refusal !== undefined && performance.now() - refusal.at < refusedPauseMs) return Promise.reject(refusal.reason)
    opening ??= open().finally(() => (opening = undefined))
    return opening
  }

  /** The last attempt, if the gateway answered it. */
  function lastRefusal(): typeof failed {
    return failed?.reason.details.cause === 'UNREACHABLE' ? undefined : failed
  }

  async function open(): Promise<OpenClawConnection> {
    clearTimeout(again)
    try {
      const newConnection = await connectWithRetries(performance.now() + startingMs)
      if (isClosed) newConnection.close()
      failures = 0
      failed = undefined
      attach(newConnection)
      return newConnection
    } catch (reason) {
      const error = A2AError.from(reason)
      failures += 1
      failed = { reason: error, at: performance.now() }
      if (failures === 1) log.warn('the OpenClaw gateway cannot be used', { url: urlOrigin(url), cause: error })
      scheduleReconnect()
      for (const listener of failureListeners) listener(error)
      throw error
    }
  }

  /** Retries until a connection is accepted or refused. */
  async function connectWithRetries(deadline: number): Promise<OpenClawConnection> {
    const device = await options.device()
    const deviceToken = device === undefined ? undefined : await tokens.read(url)
    let credentials: GatewayCredentials & { deviceToken?: string | undefined } = { ...options.credentials, deviceToken }
    for (;;) {
      lastSeq = undefined
      const handshake = { credentials, device, approvals: options.approvals }
      const attempt: ConnectionAttempt = await openOpenClawConnection({
        url,
        openTimeoutMs,
        jsonNodes: options.jsonNodes,
        onEvent: dispatchEvent,
        connect: (challenge) => connectParams(challenge, handshake),
      })
      if ('line' in attempt) return checkScopes(attempt.line)
      if ('failed' in attempt) throw gatewayUnreachable(attempt.failed)
      const pauseMs = refusalRetryMs(attempt.refused)
      if (pauseMs !== undefined && performance.now() + pauseMs < deadline && !isClosed) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
      } else if (
        isDeviceTokenRequested(attempt.refused) &&
        deviceToken !== undefined &&
        credentials.token !== undefined
      ) {
        credentials = { deviceToken }
      } else throw await refusal(attempt.refused)
    }
  }

  async function refusal(given: GatewayError): Promise<A2AError> {
    if (isDeviceForgotten(given)) await tokens.forget(url)
    return refusalRetryMs(given) === undefined
      ? refusalError(given)
      : gatewayUnreachable(`${given.code}: ${given.message}`)
  }

  async function checkScopes(newConnection: OpenClawConnection): Promise<OpenClawConnection> {
    const { scopes, deviceToken } = newConnection.hello
    if (deviceToken !== undefined) await tokens.keep(url, deviceToken)
    if (scopes.includes('operator.write') || scopes.includes('operator.admin')) return newConnection
    newConnection.close()
    throw missingScopesError(scopes)
  }

  function attach(newConnection: OpenClawConnection): void {
    connection = newConnection
    limits = newConnection.hello.limits
    log.info('connected to the OpenClaw gateway', { url: urlOrigin(url), version: newConnection.hello.version })
    for (const { resolve } of waiting) resolve(newConnection)
    waiting.clear()
    void newConnection.ended.then((why) => {
      if (connection === newConnection) connection = undefined
      if (isClosed) return
      log.info('the connection to the OpenClaw gateway ended', { url: urlOrigin(url), why })
      for (const listener of allListeners()) listener.onLost(why)
      scheduleReconnect()
    })
  }

  function scheduleReconnect(): void {
    if (isClosed) return
    clearTimeout(again)
    const pauseMs = backoffMs(failures, firstPauseMs, longestPauseMs)
    const refusedMs = lastRefusal() === undefined ? 0 : longestPauseMs
    again = setTimeout(reconnect, failures === 0 ? 100 : Math.max(pauseMs, refusedMs)).unref()
  }

  /** Errors are reported to callers that request a connection. */
  function reconnect(): void {
    current().catch(() => {})
  }

  function nextConnection(signal: AbortSignal): Promise<OpenClawConnection> {
    if (connection?.isOpen() === true) return Promise.resolve(connection)
    if (isClosed) return Promise.reject(closed())
    const next = Promise.withResolvers<OpenClawConnection>()
    waiting.add(next)
    return abortable(signal, next.promise).finally(() => waiting.delete(next))
  }

  function listen(
    about: { readonly sessionKey: string; readonly runId: string },
    listener: GatewayListener,
  ): () => void {
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

  function dispatchEvent(event: GatewayEvent): void {
    const { seq } = event
    if (seq !== undefined) {
      const expected = (lastSeq ?? seq - 1) + 1
      if (seq > expected) for (const listener of allListeners()) listener.onGap(expected, seq)
      lastSeq = seq
    }
    const key = eventSessionKey(event) ?? stringField(event.payload, 'runId') ?? stringField(event.payload, 'id')
    if (key !== undefined) for (const listener of listeners.get(key) ?? []) listener.onEvent(event)
  }

  function allListeners(): Set<GatewayListener> {
    return new Set([...listeners.values()].flatMap((set) => [...set]))
  }
}

function closed(): A2AError {
  return new A2AError('UNAVAILABLE', 'The agent is closed')
}

/** Without the path and credentials that a URL may contain. */
function urlOrigin(url: string): string {
  return new URL(url).origin
}

interface SharedGateway {
  readonly gateway: Gateway
  users: number
}

/** By key-value store: another hub in this process is another device. */
const sharedGateways = new WeakMap<KeyValueStore, Map<string, SharedGateway>>()

/** Agents with the same address and credentials share one gateway until the last of them closes. */
export function shareGateway(kv: KeyValueStore, deviceName: string, options: GatewayOptions): Gateway {
  const { url, credentials, approvals } = options
  const key = JSON.stringify([url, credentials.token, credentials.password, approvals, deviceName])
  const all = sharedGateways.get(kv) ?? new Map<string, SharedGateway>()
  sharedGateways.set(kv, all)
  const shared = all.get(key) ?? { gateway: openGateway(options), users: 0 }
  all.set(key, shared)
  shared.users += 1
  let isClosed = false
  return {
    ...shared.gateway,
    close() {
      if (isClosed) return
      isClosed = true
      shared.users -= 1
      if (shared.users > 0) return
      all.delete(key)
      shared.gateway.close()
    },
  }
}
