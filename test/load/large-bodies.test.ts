/**
 * Guards against: bodies of many megabytes that delay other requests, that are answered out of order, or that are
 * lost while the server closes. They are processed in steps, with other requests in between.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent as HttpAgent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { artifact } from '@parley/a2a'
import type { StreamEvent } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'
import type { ServeOptions, Server } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'

const largeText = 'x'.repeat(8_000_000)

async function open(t: TestContext, options: Pick<ServeOptions, 'agent'> & Partial<ServeOptions>) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-large-bodies-'))
  const file = join(folder, 'tasks.db')
  const server = await serve({ port: 0, quiet: true, store: sqliteStore(file), ...options })
  t.after(async () => {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { server, file }
}

const bodyOf = (messageId: string, text: string): string =>
  JSON.stringify({ message: { messageId, role: 'ROLE_USER', parts: [{ text }] } })

const send = (url: string, messageId: string, text: string): Promise<Response> =>
  fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: bodyOf(messageId, text),
  })

/** Over one connection that is open already. */
function pinger({ url }: Server, t: TestContext): () => Promise<number> {
  const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  return () =>
    new Promise((resolve, reject) => {
      const asked = request(`${url}/healthz`, { agent }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0))
      })
      asked.once('error', reject).end()
    })
}

describe('while a large body is processed', () => {
  it('a later ping is answered first', async (t) => {
    const order: string[] = []
    let pinged: Promise<unknown> = Promise.resolve()
    const { server } = await open(t, {
      async *agent({ message }) {
        // The body is parsed and checked, and not stored.
        pinged = ping().then((status) => order.push(`ping ${status} while the agent runs`))
        yield* message.parts
      },
    })
    const ping = pinger(server, t)
    await ping()
    const asked = request(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    })
    const answered = once(asked, 'response')
    asked.end(bodyOf('one', largeText))
    await once(asked, 'finish')
    const early = ping().then((status) => order.push(`ping ${status} after the body`))
    const [response] = (await answered) as [IncomingMessage]
    order.push(`body ${response.statusCode}`)
    response.resume()
    await once(response, 'end')
    await Promise.all([early, pinged])
    assert.deepEqual(order, ['ping 200 after the body', 'ping 200 while the agent runs', 'body 200'])
  })

  it('later small messages are answered first', async (t) => {
    const order: string[] = []
    const { server } = await open(t, { agent: ({ text }) => text })
    const large = Promise.all(
      ['a', 'b', 'c'].map((id) => send(server.url, id, largeText).then(() => order.push('large'))),
    )
    // All three bodies have arrived, in part or completely.
    for (let count = 0; count < 3; count++) await once(server.server, 'request')
    for (let count = 0; count < 5; count++) {
      assert.equal((await send(server.url, `small-${count}`, 'hi')).status, 200)
      order.push('small')
    }
    await large
    assert.ok(
      order.filter((one, index) => one === 'small' && order.slice(index).includes('large')).length >= 3,
      order.join(),
    )
  })
})

describe('an agent that reports large and small events in turn', () => {
  const count = 10
  const place = (event: StreamEvent): readonly number[] =>
    'artifactUpdate' in event
      ? event.artifactUpdate.artifact.parts.map((part) => Number.parseInt('text' in part ? part.text : '', 10))
      : []

  it('is delivered in order, to current and to later readers', async (t) => {
    const { server } = await open(t, {
      async *agent() {
        for (let index = 0; index < count; index++) {
          yield artifact('log', {
            text: index % 2 === 0 ? `${index};` : `${index};${largeText.slice(0, 700_000)}`,
            append: index > 0,
          })
          // So that each is a separate append.
          await new Promise((resolve) => setImmediate(resolve))
        }
      },
    })
    const agent = await connect(server.url)
    const events = await agent.stream('go').all()
    const positions = events.flatMap((event) => place(event))
    assert.deepEqual(
      positions,
      Array.from({ length: count }, (_, index) => index),
    )
    const { tasks } = await agent.list()
    const task = await agent.get(tasks[0]?.id ?? '')
    const kept = task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
    assert.deepEqual(
      [...kept.matchAll(/(\d+);/g)].map(([, index]) => Number(index)),
      positions,
    )
  })
})

describe('a server that closes while large bodies are processed', () => {
  it('answers each of them, and keeps what it acknowledged', async (t) => {
    const { server, file } = await open(t, { agent: ({ text }) => `${text.length}`, drainMs: 60_000 })
    const sent = Array.from({ length: 4 }, (_, index) => send(server.url, `m-${index}`, largeText))
    for (let count = 0; count < sent.length; count++) await once(server.server, 'request')
    await server.close()
    const answers = await Promise.all(
      sent.map(async (answer) => {
        const response = await answer
        return { status: response.status, json: JSON.parse(await response.text()) }
      }),
    )
    assert.ok(
      answers.every(({ status }) => status === 200 || status === 503),
      JSON.stringify(answers.map(({ status }) => status)),
    )
    const store = sqliteStore(file)
    t.after(() => store.close())
    for (const { status, json } of answers) {
      if (status === 200) assert.ok(await store.tasks.load(json.task.id), 'an acknowledged task is missing')
    }
  })

  it('closes even if their senders have left', async (t) => {
    const { server } = await open(t, { agent: ({ text }) => text })
    const leaving = new AbortController()
    const sent = Array.from({ length: 4 }, (_, index) =>
      fetch(`${server.url}/message:send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: bodyOf(`m-${index}`, largeText),
        signal: leaving.signal,
      }).catch(() => undefined),
    )
    for (let count = 0; count < sent.length; count++) await once(server.server, 'request')
    leaving.abort()
    await Promise.all(sent)
    assert.equal((await send(server.url, 'after', 'hi')).status, 200)
    await server.close()
  })
})
