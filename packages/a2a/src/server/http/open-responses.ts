/** Tracks the open responses of a listener, and which connections have none. */
import { bytesSent, stallCheckIntervalMs, checksPerStall, type SocketProgress } from '../streaming/stream-limits.ts'

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
  // A table rather than a set: with entries that come and go a set retains far more memory (see engine/in-flight-map.ts).
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
