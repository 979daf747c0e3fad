/** The client runs wherever there is `fetch`: Node, browsers, Bun, Deno, Workers. Here it gets only what all of them have. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { createContext, runInContext } from 'node:vm'
import { memoryStore } from '@parley/a2a'
import { createHandler } from '@parley/a2a/server'
import { bundle } from './bundle.ts'

const program = `export * from '@parley/a2a/client'`

/** Globals of one or two platforms. */
const foreign = [
  'Buffer',
  'process',
  'global',
  'require',
  'module',
  'setImmediate',
  'clearImmediate',
  '__dirname',
  '__filename',
  'window',
  'document',
  'localStorage',
  'XMLHttpRequest',
  'EventSource',
  'Deno',
  'Bun',
]
/** Of the platform, besides the language. All of them are in the common minimum that the runtimes have agreed on. */
const common = {
  AbortController,
  AbortSignal,
  Blob,
  Headers,
  ReadableStream,
  Request,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  atob,
  btoa,
  clearTimeout,
  crypto,
  performance,
  setTimeout,
}

describe('the client', () => {
  it('uses no globals that only some platforms have', async () => {
    // esbuild replaces free names only: not properties, not what is in strings, not what is declared.
    const define = Object.fromEntries(foreign.map((name) => [name, `FOREIGN_${name}`]))
    const { chunks } = await bundle(program, { define })
    const found = [...chunks.values()].flatMap(({ text }) => [...text.matchAll(/FOREIGN_\w+/g)].map(([name]) => name))
    assert.deepEqual(found, [])

    const guilty = await bundle('export const now = () => process.hrtime(Buffer.from("process"))', { define })
    const [{ text = '' } = {}] = guilty.chunks.values()
    assert.match(text, /FOREIGN_process.*FOREIGN_Buffer/)
  })

  const handler = createHandler({
    name: 'Storyteller',
    store: memoryStore(),
    async *agent({ text }) {
      yield 'Once '
      yield `upon ${text}`
    },
  })
  after(() => handler.close())

  it('connects, asks and streams with what all platforms have', async () => {
    const { chunks, entry } = await bundle(program, { format: 'iife', splitting: false, globalName: 'client' })
    const fetch = (request: Request): Promise<Response> => handler.fetch(request)
    const context = createContext({ ...common, fetch })
    runInContext(chunks.get(entry)?.text ?? '', context)
    const story = `(async () => {
      const agent = await client.connect('http://storyteller.test')
      const chunks = []
      for await (const chunk of agent.stream('a time').text()) chunks.push(chunk)
      const task = await agent.start('a time')
      const { status } = await agent.wait(task.id)
      const lost = await agent.get('unknown').catch((error) => error.code)
      return JSON.stringify([await agent.ask('a time'), chunks, status.state, lost])
    })()`
    assert.deepEqual(JSON.parse(await (runInContext(story, context) as Promise<string>)), [
      'Once upon a time',
      ['Once ', 'upon a time'],
      'TASK_STATE_COMPLETED',
      'TASK_NOT_FOUND',
    ])
  })
})
