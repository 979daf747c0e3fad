/**
 * A webhook that misbehaves in every way at random: it fails, hangs, sends wrong responses, redirects, disconnects. An
 * event is received if it answered with 2xx; the sender must trust nothing else.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Arrival {
  readonly key: string
  readonly seq: number
  readonly at: number
  readonly acknowledged: boolean
  /** The server that sent it, if there are several. */
  readonly by?: string
  /** Absent if the receiver hung up before it had read it. */
  readonly body?: string
}

export type ReceiverBehavior =
  | 'well'
  | 'fails'
  | 'busy'
  | 'hangs'
  | 'redirects'
  | 'hangs up'
  | 'hangs up early'
  | 'garbage'
  | 'lies'

/** How often each, of a hundred. */
const receiverBehaviors: readonly [manner: ReceiverBehavior, share: number][] = [
  ['well', 62],
  ['lies', 6],
  ['fails', 6],
  ['busy', 4],
  ['hangs', 2],
  ['redirects', 6],
  ['hangs up', 5],
  ['hangs up early', 5],
  ['garbage', 4],
]

export async function openFaultyReceiver(random: () => number) {
  const arrivals: Arrival[] = []
  const ended = new Set<string>()
  const seen = new Map<ReceiverBehavior, number>()
  /** Each comes once at first, so that few deliveries on a slow machine meet all of them. */
  const unseen = receiverBehaviors.map(([manner]) => manner)
  let trapped = 0
  let isGood = false
  const server = createServer((request, response) => {
    if (request.url === '/trap') {
      trapped += 1
      return void response.end()
    }
    void answer(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const manner = isGood ? 'well' : (unseen.shift() ?? pick(random() * 100))
    seen.set(manner, (seen.get(manner) ?? 0) + 1)
    const note = (acknowledged: boolean, body?: string): void => {
      const { 'a2a-event-id': id, 'a2a-push-config-id': config = '', 'x-server': by = '' } = request.headers
      const key = `${request.url} ${String(config)}`
      const about = { key, seq: Number(id), at: Date.now(), acknowledged, by: String(by) }
      arrivals.push(body === undefined ? about : { ...about, body })
    }
    if (manner === 'hangs up early') return void (note(false), request.destroy())
    const body = await text(request)
    const isReceived = manner === 'well' || manner === 'lies'
    note(isReceived, body)
    if (isReceived && body.includes('TASK_STATE_COMPLETED')) ended.add(request.url ?? '')
    switch (manner) {
      case 'well':
        return void response.writeHead(204).end()
      case 'lies': {
        // The status 200 counts; a body of the declared length never comes.
        response.writeHead(200, { 'content-length': '1000000' })
        response.write('{')
        return void setTimeout(() => response.destroy(), 20)
      }
      case 'fails':
        return void response.writeHead(500).end('x'.repeat(100_000))
      case 'busy':
        return void response.writeHead(503, { 'retry-after': '0' }).end()
      case 'redirects':
        return void response.writeHead(random() < 0.5 ? 302 : 307, { location: `${origin}/trap` }).end()
      case 'garbage':
        return void request.socket.end('HTTP/1.1 two hundred\r\n\r\n')
      case 'hangs':
        return
      default:
        request.socket.destroy()
    }
  }

  return {
    arrivals,
    /** The paths at which the end of a task was received. */
    ended: ended as ReadonlySet<string>,
    seen,
    trapped: () => trapped,
    url: (name: string) => `${origin}/${name}`,
    /** From now on it behaves correctly. */
    behave: () => void (isGood = true),
    /** From now on it misbehaves. */
    misbehave: () => void (isGood = false),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function pick(point: number): ReceiverBehavior {
  let sum = 0
  for (const [manner, share] of receiverBehaviors) if (point < (sum += share)) return manner
  return 'well'
}
