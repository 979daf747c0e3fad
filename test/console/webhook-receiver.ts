/** A webhook receiver that answers as the test sets: with a status, or not at all. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export interface WebhookReceiver {
  readonly url: string
  /** The notifications in order: the path, the event, and the response status. */
  readonly deliveries: readonly { readonly path: string; readonly eventId: string; readonly answered: number }[]
  /** Sets the response for this path. Others get 200. */
  answer(path: string, status: number, words?: string): void
}

export async function openWebhookReceiver(): Promise<WebhookReceiver> {
  const answers = new Map<string, { readonly status: number; readonly words: string }>()
  const deliveries: { path: string; eventId: string; answered: number }[] = []
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const { status: answered, words } = answers.get(path) ?? { status: 200, words: '' }
    request.resume().on('end', () => {
      deliveries.push({ path, eventId: String(request.headers['a2a-event-id']), answered })
      response.writeHead(answered).end(words)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deliveries,
    answer: (path, status, words = '') => void answers.set(path, { status, words }),
  }
}
