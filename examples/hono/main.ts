/**
 * An agent inside a Hono application. The same two lines work in Next, Bun, Deno and Workers: every runtime with web
 * `Request` and `Response`.
 */
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { createHandler } from '@parley/a2a/server'
import { memoryStore } from '@parley/a2a'
import { Hono } from 'hono'

const handler = createHandler({
  name: 'Greeter',
  store: memoryStore(),
  prefix: '/agent',
  async *agent({ text }) {
    yield `Hello, ${text}!`
  },
})

const app = new Hono()
app.get('/', (c) => c.text('The application'))
app.all('/agent', (c) => handler.fetch(c.req.raw))
app.all('/agent/*', (c) => handler.fetch(c.req.raw))

// On Bun, Deno and Workers, `export default app` is enough. Node needs an adapter to create a Request.
const server = createServer((request, response) => {
  void (async () => {
    const answer = await app.fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? 'GET',
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
        ...(request.method === 'GET' || request.method === 'HEAD'
          ? {}
          : { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) response.end()
    else Readable.fromWeb(answer.body).pipe(response)
  })()
})
const port = Number(process.env.PORT ?? 3000)
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/agent`))
process.once('SIGTERM', () => {
  server.close()
  void handler.close()
})
