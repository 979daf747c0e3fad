/** Work that continues while the server is dead: each job takes a while and counts how often it was started. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export async function startJobServer(jobMs: number) {
  const jobs = new Map<string, { readonly startedAt: number; starts: number }>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://worker')
    const id = url.searchParams.get('job') as string
    const known = jobs.get(id)
    if (url.pathname === '/start') {
      // Only the first start has an effect, as with any API that accepts an idempotency key.
      if (known === undefined) jobs.set(id, { startedAt: Date.now(), starts: 1 })
      response.end('{}')
    } else {
      response.end(JSON.stringify({ done: known !== undefined && Date.now() - known.startedAt > jobMs }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    jobs,
    close: () => server.close(),
  }
}
