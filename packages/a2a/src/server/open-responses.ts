/** The responses of a listener that are open, and which connections have none. */
import { bytesTaken, lookEveryMs, looksPerStall, type WatchedSocket } from './patience.ts'

/** What is used of node:http's pair of objects. */
interface OpenRequest {
  readonly complete: boolean
  readonly socket: object
}

interface OpenResponse {
  readonly req: OpenRequest
  readonly headersSent: boolean
  readonly socket: WatchedSocket | null
  on(event: 'close', listener: () => void): unknown
  destroy(): unknown
}

export interface RequestSource {
  on(event: 'request', listener: (request: OpenRequest, response: OpenResponse) => void): unknown
}

/** All responses that are open, streams too. */
export type OpenResponses = () => readonly OpenResponse[]

const response = Symbol('response')

interface HttpConnection {
  /** The response to the request that came last, until it is closed. */
  [response]?: OpenResponse | undefined
}

/** Follows the responses of a server. A shutdown waits for those whose head is not out; `dropStalled` looks at all. */
export function trackResponses(server: RequestSource): OpenResponses {
  // A table rather than a set: of what comes and goes a set holds on to far more (see engine/passing.ts).
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
      // A request that was sent ahead may have taken its place.
      if (connection[response] === opened) connection[response] = undefined
    })
  })
  return () => table.filter((one) => one !== undefined)
}

/** Whether nothing is lost if a connection closes: its client has still to send a request, or the end of one. */
export function isWaitingForClient(socket: object): boolean {
  const open = (socket as HttpConnection)[response]
  return open === undefined || (!open.req.complete && !open.headersSent)
}

/** `_parent` is Node's own: what a listener for TLS accepted is the socket below the one that requests come by. */
function tcpSocketOf(socket: object): HttpConnection {
  const { _parent: below } = socket as { readonly _parent?: object | null }
  return below ?? socket
}

/**
 * Cuts off whoever takes nothing of an answer for so long. Looked at now and then, over the answers that are under way: a
 * timeout on the socket is moved with every read and write, and cost a tenth of a small request.
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
      const taken = bytesTaken(one.socket)
      const last = seen.get(one)
      const looks = last?.taken === taken ? last.looks + 1 : 0
      if (looks < looksPerStall) unsent.set(one, { taken, looks })
      else {
        stalled()
        one.destroy()
      }
    }
    seen = unsent
  }
  const timer = setInterval(look, lookEveryMs(stallMs))
  ;(timer as { unref?(): unknown }).unref?.()
  server.once('close', () => clearInterval(timer))
}
