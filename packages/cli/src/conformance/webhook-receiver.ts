/** The receiver of push notifications that a run opens: one server, and an address of its own for each thing that is tested. */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { linkSignals } from '@parley/a2a/internal'
import type { Exchange } from './wire/exchange.ts'
import { parseJson } from './wire/http-wire.ts'

export interface Delivery {
  readonly method: string
  /** The path below the address of its webhook: `/` as a rule. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** `undefined` if the body is no JSON. */
  readonly json: unknown
  readonly exchange: Exchange
}

export interface Webhook {
  readonly url: string
  readonly deliveries: readonly Delivery[]
  /** Resolves with `true` as soon as it holds for the deliveries so far, and with `false` after that time or with the signal. */
  until(holds: (deliveries: readonly Delivery[]) => boolean, signal: AbortSignal, withinMs?: number): Promise<boolean>
}

export interface WebhookReceiver {
  /** A new webhook. `respond` decides the response to each delivery; default 204. */
  webhook(respond?: (delivery: Delivery, count: number) => WebhookResponse): Webhook
  close(): Promise<void>
}

export interface WebhookResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

const maxBodyBytes = 4 * 1024 * 1024

export interface WebhookReceiverOptions {
  /** The address under which the agent reaches this machine. Default: a port on loopback. */
  readonly publicUrl?: string
  readonly port?: number
}

export async function openWebhookReceiver({ publicUrl, port }: WebhookReceiverOptions): Promise<WebhookReceiver> {
  const hooks = new Map<string, (delivery: Delivery) => WebhookResponse>()
  const server = createServer((request, response) => void receive(request, response, hooks))
  // A public address leads to this machine through a proxy or a tunnel, which may run on another one.
  const host = publicUrl === undefined ? '127.0.0.1' : undefined
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: port ?? 0, ...(host === undefined ? {} : { host }) }, resolve)
  })
  const local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const base = (publicUrl ?? local).replace(/\/$/, '')
  return {
    webhook(respond = () => ({ status: 204 })) {
      const name = randomBytes(12).toString('hex')
      const deliveries: Delivery[] = []
      const waiting = new Set<() => void>()
      hooks.set(name, (delivery) => {
        deliveries.push(delivery)
        for (const wake of waiting) wake()
        return respond(delivery, deliveries.length)
      })
      return {
        url: `${base}/${name}`,
        deliveries,
        async until(holds, signal, withinMs) {
          const limit = linkSignals([signal], withinMs)
          const { promise, resolve } = Promise.withResolvers<boolean>()
          const look = (): void => {
            if (holds(deliveries)) resolve(true)
            else if (limit.signal.aborted) resolve(false)
          }
          waiting.add(look)
          limit.signal.addEventListener('abort', look)
          look()
          return promise.finally(() => {
            limit.end()
            waiting.delete(look)
          })
        },
      }
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  hooks: ReadonlyMap<string, (delivery: Delivery) => WebhookResponse>,
): Promise<void> {
  // Not resolved against a base: `//` would be a host, and an empty one is no URL.
  const [pathname = '/'] = (request.url ?? '/').split(/[?#]/, 1)
  const [name = '', receiveAt] = [...hooks].find(([each]) => pathname.includes(`/${each}`)) ?? []
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.byteLength
      if (length <= maxBodyBytes) chunks.push(chunk)
    }
  } catch {
    return
  }
  if (receiveAt === undefined) {
    response.writeHead(404).end()
    return
  }
  const text = Buffer.concat(chunks).toString('utf8')
  const method = request.method ?? ''
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
  const path = pathname.slice(pathname.indexOf(name) + name.length) || '/'
  // Seen from the agent: it sends the request.
  const exchange: Exchange = { request: { line: `${method} (webhook) ${path}`, headers, body: text } }
  const { status, headers: answer = {} } = receiveAt({
    method,
    path,
    headers,
    text,
    json: parseJson(text),
    exchange,
  })
  response.writeHead(status, answer).end()
}
