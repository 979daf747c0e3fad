/**
 * Limits the connections of a listener, in total and per address. When the total is reached, a new connection replaces one without
 * a request being answered: a client that connects and sends slowly, or nothing, keeps its connection only until another client
 * needs it. Connections with a response in progress are never dropped; if all have one, the new connection is refused.
 */
import type { EngineLog } from '../../engine/contract.ts'
import { clientNetwork } from './addresses.ts'

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
