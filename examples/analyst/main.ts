/** A described agent: its own store, callers with keys, limits, and an answer with status, tokens and data. */
import { data, status } from '@parley/a2a'
import type { Message } from '@parley/a2a'
import type { Authenticate } from '@parley/a2a/server'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'

/** Stands in for your model: streams words. */
async function* llm(message: Message, { signal }: { signal: AbortSignal }): AsyncGenerator<string> {
  const [part] = message.parts
  const question = part !== undefined && 'text' in part ? part.text : 'nothing'
  for (const word of `You asked: ${question}`.split(' ')) {
    signal.throwIfAborted()
    yield `${word} `
  }
}

/** Reads the caller from the headers, never from the body. `undefined` means 401. */
const authenticate: Authenticate = ({ header }) =>
  header('authorization') === 'Bearer let-me-in' ? { id: 'analysts|alice', scopes: ['ask'] } : undefined

const server = await serve({
  name: 'Analyst',
  description: 'Reads a table, answers questions',
  version: '2.1.0',
  skills: [{ id: 'ask', name: 'Ask', description: 'A question about the table', tags: ['data'] }],
  port: Number(process.env.PORT ?? 3000),
  store: sqliteStore('./analyst.db'),
  authenticate,
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  push: { allow: ['hooks.example.com'] },
  limits: { bodyBytes: 5_000_000, tasksPerCaller: 100 },
  async *agent({ message, signal }) {
    yield status('Reading')
    for await (const token of llm(message, { signal })) yield token
    yield data({ rows: 42 })
  },
})
console.log(server.url)
process.once('SIGTERM', () => void server.close())
