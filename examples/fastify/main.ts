/** An agent inside a Fastify application: the raw pair of request and response goes to the handler. */
import { createHandler } from '@parley/a2a/server'
import { memoryStore } from '@parley/a2a'
import fastify from 'fastify'

const handler = createHandler({
  name: 'Greeter',
  store: memoryStore(),
  prefix: '/agent',
  async *agent({ text }) {
    yield `Hello, ${text}!`
  },
})

const app = fastify()
// The handler reads the body itself, so Fastify must not.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', (_request, _payload, done) => done(null))
app.all('/agent', agent)
app.all('/agent/*', agent)
app.addHook('onClose', () => handler.close())

function agent(request: { raw: Parameters<typeof handler.node>[0] }, reply: FastifyReply): void {
  reply.hijack()
  handler.node(request.raw, reply.raw)
}
type FastifyReply = { hijack(): unknown; raw: Parameters<typeof handler.node>[1] }

const port = Number(process.env.PORT ?? 3000)
await app.listen({ port, host: '127.0.0.1' })
console.log(`http://127.0.0.1:${port}/agent`)
process.once('SIGTERM', () => void app.close())
