/**
 * Limits the connections of a listener, in total and per address. When the total is reached, a new connection replaces one without
 * a request being answered: a client that connects and sends slowly, or nothing, keeps its connection only until another client
 * needs it. Connections with a response in progress are never dropped; if all have one, the new connection is refused.
 */
import type { EngineLog } from '../../engine/contract.ts'
import { clientNetwork } from './addresses.ts'
import { bytesSent, checksPerStall, type SocketProgress, stallCheckIntervalMs } from '../streaming/reader-limits.ts'

/** Limits of open connections, in total and per address. */
export interface ConnectionLimits {
  /** Open connections of the HTTP listener; the gRPC listeners together may have as many. Default 20,000. */
  readonly connections: number
  /**
   * Open connections per address; for IPv6, per /64 network. Ignored with `trustProxy`, where all connections are the proxy's.
   * Default: unlimited.
   */
  readonly connectionsPerAddress?: number | undefined
}

/** The used part of a socket. */
export interface Connection {
  readonly remoteAddress?: string | undefined
  readonly destroyed: boolean
  destroy(): unknown
  once(event: 'close', listener: () => void): unknown
}

/** Connections of a server: open ones, and those closed because of a limit. */
export interface ConnectionCounts {
  /** Open now. */
  readonly open: number
  /** Closed at once because a limit was reached, since the start. */
  readonly refused: number
  /** Closed to make room for a new connection, since the start. */
  readonly dropped: number
}

export interface ConnectionLimiter {
  /** Counts a connection that was just accepted, or closes it. Returns whether it was admitted. */
  admit(socket: Connection): boolean
  readonly counts: ConnectionCounts
}

export interface ConnectionLimiterDeps extends ConnectionLimits {
  /** Whether a connection may be dropped for another one. Default: none may. */
  isIdle?(socket: Connection): boolean
  readonly log: Pick<EngineLog, 'warn'>
  /** Milliseconds of a monotonic clock. */
  now?(): number
}

export const defaultConnections = 20_000

/** How many connections are checked to find one to drop: with thousands of busy ones a flood must not cost a full scan each. */
const checksPerConnection = 64
const warnEveryMs = 60_000

export function createConnectionLimiter(parts: ConnectionLimiterDeps): ConnectionLimiter {
  const { connections, connectionsPerAddress, isIdle = () => false, log, now = () => performance.now() } = parts
  // A table rather than a set: its slots are checked in turn, from where the last check ended.
  const table: (Connection | undefined)[] = []
  const free: number[] = []
  const perNetwork = new Map<string, number>()
  let nextIndex = 0
  let open = 0
  let refused = 0
  let dropped = 0
  let warnedAt = -Infinity

  function warn(message: string, fields: Record<string, unknown>): void {
    if (now() - warnedAt < warnEveryMs) return
    warnedAt = now()
    log.warn(message, fields)
  }

  function refuse(socket: Connection): false {
    refused += 1
    socket.destroy()
    return false
  }

  /** Closes a connection that waits for its client; checks the ones first that were not checked for longest. */
  function makeRoom(): boolean {
    for (let looks = 0; looks < Math.min(checksPerConnection, table.length); looks += 1) {
      const socket = table[nextIndex]
      nextIndex = (nextIndex + 1) % table.length
      if (socket === undefined || socket.destroyed || !isIdle(socket)) continue
      dropped += 1
      socket.destroy()
      return true
    }
    return false
  }

  /** Returns a function that releases the slot, or `undefined` if the address has too many connections. */
  function reserveForNetwork(socket: Connection, most: number): (() => void) | undefined {
    const network = clientNetwork(socket.remoteAddress)
    const count = perNetwork.get(network) ?? 0
    if (count >= most) {
      warn('Connections refused: limits.connectionsPerAddress is reached', { address: network, limit: most })
      return undefined
    }
    perNetwork.set(network, count + 1)
    return () => {
      const left = (perNetwork.get(network) ?? 1) - 1
      if (left === 0) perNetwork.delete(network)
      else perNetwork.set(network, left)
    }
  }

  return {
    admit(socket) {
      const giveBack =
        connectionsPerAddress === undefined ? undefined : reserveForNetwork(socket, connectionsPerAddress)
      if (connectionsPerAddress !== undefined && giveBack === undefined) return refuse(socket)
      if (open >= connections) {
        warn('limits.connections is reached: idle connections are closed for new ones', { limit: connections })
        if (!makeRoom()) {
          giveBack?.()
          return refuse(socket)
        }
      }
      const place = free.pop() ?? table.length
      table[place] = socket
      open += 1
      socket.once('close', () => {
        table[place] = undefined
        free.push(place)
        open -= 1
        giveBack?.()
      })
      return true
    },
    counts: {
      get open() {
        return open
      },
      get refused() {
        return refused
      },
      get dropped() {
        return dropped
      },
    },
  }
}

// The open responses of a listener, and which connections have none.

/** The used parts of node:http's request and response. */
interface OpenRequest {
  readonly complete: boolean
  readonly socket: object
}

interface OpenResponse {
  readonly req: OpenRequest
  readonly headersSent: boolean
  readonly socket: SocketProgress | null
  on(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

export interface RequestSource {
  on(event: 'request', listener: (request: OpenRequest, response: OpenResponse) => void): unknown
}

/** All open responses, including streams. */
export type OpenResponses = () => readonly OpenResponse[]

const response = Symbol('response')

interface HttpConnection {
  /** The response to the latest request, until it is closed. */
  [response]?: OpenResponse | undefined
}

/** Tracks the responses of a server. A shutdown waits for those whose head is not sent; `dropStalled` checks all. */
export function trackResponses(server: RequestSource): OpenResponses {
  // A table rather than a set: with entries that come and go a set retains far more memory.
  const table: (OpenResponse | undefined)[] = []
  const free: number[] = []
  server.on('request', (request, opened) => {
    const place = free.pop() ?? table.length
    const connection = tcpSocketOf(request.socket)
    table[place] = opened
    connection[response] = opened
    opened.on('close', () => {
      table[place] = undefined
      free.push(place)
      // A pipelined request may have replaced it.
      if (connection[response] === opened) connection[response] = undefined
    })
  })
  return () => table.filter((one) => one !== undefined)
}

/** Whether closing a connection loses nothing: its client has not sent a complete request. */
export function isWaitingForClient(socket: object): boolean {
  const open = (socket as HttpConnection)[response]
  return open === undefined || (!open.req.complete && !open.headersSent)
}

/** `_parent` is internal to Node: a TLS listener accepts the socket below the one that carries requests. */
function tcpSocketOf(socket: object): HttpConnection {
  const { _parent: below } = socket as { readonly _parent?: object | null }
  return below ?? socket
}

/**
 * Disconnects clients that take nothing of a response for this long. Checks the open responses periodically: a timeout on the
 * socket is moved with every read and write, and cost a tenth of a small request.
 */
export function dropStalled(
  server: { once(event: 'close', listener: () => void): unknown },
  openResponses: OpenResponses,
  stallMs: number,
  stalled: () => void,
): void {
  /** Responses with bytes that their reader has not taken. Most of ten thousand streams have none, and must cost nothing. */
  let seen = new Map<OpenResponse, { readonly taken: number; readonly looks: number }>()
  const look = (): void => {
    const unsent: typeof seen = new Map()
    for (const one of openResponses()) {
      if ((one.socket?.writableLength ?? 0) === 0) continue
      const taken = bytesSent(one.socket)
      const last = seen.get(one)
      const looks = last?.taken === taken ? last.looks + 1 : 0
      if (looks < checksPerStall) unsent.set(one, { taken, looks })
      else {
        stalled()
        one.destroy()
      }
    }
    seen = unsent
  }
  const timer = setInterval(look, stallCheckIntervalMs(stallMs))
  ;(timer as { unref?(): unknown }).unref?.()
  server.once('close', () => clearInterval(timer))
}
