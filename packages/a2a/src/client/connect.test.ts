/** The first programs that a user of the client writes, against a real server, in every version and over both bindings. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AgentFunction } from '../agents/agent.ts'
import { inputRequired, reply, status } from '../agents/reports.ts'
import { A2AError } from '../model/error.ts'
import type { StreamEvent } from '../model/task.ts'
import { createHandler } from '../server/handler.ts'
import { type Server, serve } from '../server/node.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { connect } from './connect.ts'
import type { RemoteAgent } from './contract.ts'

/** Does what the message says. */
const allrounder: AgentFunction = async function* ({ text, message, task, signal }) {
  const files = message.parts.filter((part) => 'raw' in part || 'url' in part)
  if (files.length > 0) yield `${text}: ${JSON.stringify(files)}`
  else if (text === 'Write a report') yield* ['One ', 'two ', 'three.']
  else if (text === 'Long job') {
    yield status('At it')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  } else if (text === 'Hi') yield reply('Hello')
  else if (text === 'Book a flight') yield inputRequired('Where to?')
  else yield `${text}, ${task.id}`
}

const pdf = new File([new Uint8Array([0x25, 0x50, 0x44, 0x46])], 'paper.pdf', { type: 'application/pdf' })

let server: Server
before(async () => {
  server = await serve({
    port: 0,
    name: 'Allrounder',
    store: memoryStore(),
    authenticate: ({ header }) => (header('authorization') === 'Bearer secret' ? { id: 'ann' } : undefined),
    agent: allrounder,
  })
})
after(() => server.close())

for (const version of ['1.0', '0.3', '0.2'] as const) {
  for (const binding of ['JSONRPC', 'HTTP+JSON']) {
    describe(`a client of ${version} over ${binding}`, () => {
      let agent: RemoteAgent
      before(async () => {
        agent = await connect(server.url, { bearer: 'secret', version, prefer: [binding] })
      })

      it('reports the selected interface and why', () => {
        assert.equal(agent.card.name, 'Allrounder')
        assert.equal(agent.interface.version, version)
        assert.equal(agent.interface.protocolBinding, binding)
        assert.match(agent.interface.why, /./)
      })

      it('asks with a file and gets a text', async () => {
        const answer = await agent.ask('Summarise the attached', { files: [pdf] })
        assert.match(answer, /^Summarise the attached: .*"raw":"JVBERg=="/)
        assert.match(
          answer,
          /"filename":"paper.pdf".*"mediaType":"application\/pdf"|"mediaType":"application\/pdf".*"filename":"paper.pdf"/,
        )
      })

      it('reads a streamed answer', async () => {
        const chunks: string[] = []
        for await (const chunk of agent.stream('Write a report').text()) chunks.push(chunk)
        assert.equal(chunks.join(''), 'One two three.')
        assert.ok(chunks.length > 1)
      })

      it('distinguishes a task from a message by its kind', async () => {
        const task = await agent.send('Question')
        assert.equal(task.kind, 'task')
        assert.deepEqual(await agent.send('Hi').then(({ kind }) => kind), 'message')
      })

      it('starts a long job, follows it and cancels it', async () => {
        const task = await agent.start('Long job')
        assert.equal(task.kind, 'task')
        const events: StreamEvent[] = []
        for await (const event of agent.subscribe(task.id)) {
          events.push(event)
          if (events.length === 1) await agent.cancel(task.id)
        }
        assert.equal((await agent.get(task.id)).status.state, 'TASK_STATE_CANCELED')
        assert.equal(events.length >= 2, true)
      })

      it('chats: the answer to a question goes to the task that asked', async () => {
        const asked: string[] = []
        const chat = agent.chat({
          onInputRequired: (question) => {
            asked.push(question.text)
            return 'Rome'
          },
        })
        const booked = await chat.send('Book a flight')
        assert.deepEqual(asked, ['Where to?'])
        assert.ok(booked.kind === 'task' && booked.status.state === 'TASK_STATE_COMPLETED')
        const { contextId } = chat
        const next = await chat.send('Tomorrow')
        assert.equal(next.contextId, contextId)
      })
    })
  }
}

describe('connect', () => {
  it('accepts a card and a URL', async () => {
    const { card } = await connect(new URL(server.url), { bearer: 'secret' })
    const agent = await connect(card, { bearer: async () => 'secret' })
    assert.match(await agent.ask('Question'), /^Question/)
  })

  it('accepts an address without a scheme, and names one that it cannot use', async () => {
    const agent = await connect(server.url.replace('http://', ''), { bearer: 'secret' })
    assert.match(await agent.ask('Question'), /^Question/)
    for (const [target, url] of [
      ['ftp://agent.test/a?key=secret', 'ftp://agent.test/a'],
      ['https://me:secret@agent.test/', 'https://agent.test/'],
      ['/agents/a', '/agents/a'],
    ] as const)
      await assert.rejects(connect(target), {
        code: 'INVALID_PARAMS',
        message: `${url} must be an http(s) URL without a password, such as https://agent.example.com`,
        details: { url },
      })
  })

  it('retries the card on 503, after Retry-After [B-162]', async () => {
    const handler = createHandler({ store: memoryStore(), publicUrl: 'http://agent.test', agent: () => 'hi' })
    const busy = (times: number, retryAfter: string, then?: Response) => {
      const calls: string[] = []
      const fetch = async (request: Request): Promise<Response> => {
        calls.push(request.url)
        if (calls.length === times + 1 && then !== undefined) return then
        if (calls.length > times) return handler.fetch(request)
        return new Response('busy', { status: 503, headers: { 'retry-after': retryAfter } })
      }
      return { calls, fetch }
    }
    const limits = { firstDelayMs: 1, maxDelayMs: 50, attempts: 3 }
    const twice = busy(2, '0')
    assert.equal(await (await connect('http://agent.test', { fetch: twice.fetch, limits })).ask('x'), 'hi')
    const gone = busy(1, '0', new Response('', { status: 404 }))
    assert.equal(await (await connect('http://agent.test', { fetch: gone.fetch, limits })).ask('x'), 'hi')
    assert.match(gone.calls[2] ?? '', /agent\.json$/)
    const always = busy(Infinity, '0')
    const unavailable = { code: 'UNAVAILABLE', details: { status: '503', retryAfterMs: '0' } }
    await assert.rejects(connect('http://agent.test', { fetch: always.fetch, limits }), unavailable)
    assert.equal(always.calls.length, 3)
    const long = busy(1, '60')
    const later = { code: 'UNAVAILABLE', details: { status: '503', retryAfterMs: '60000' } }
    await assert.rejects(connect('http://agent.test', { fetch: long.fetch, limits }), later)
    assert.equal(long.calls.length, 1)
    const leaving = new AbortController()
    const patient = { ...limits, maxDelayMs: 90_000 }
    const waiting = connect('http://agent.test', {
      fetch: busy(1, '60').fetch,
      limits: patient,
      signal: leaving.signal,
      log: { warn() {}, debug: () => leaving.abort(new Error('left')) },
    })
    await assert.rejects(waiting, /left/)
    await handler.close()
  })

  it('requires credentials', async () => {
    const agent = await connect(server.url)
    await assert.rejects(
      agent.ask('Question'),
      (error) => error instanceof A2AError && error.code === 'UNAUTHENTICATED',
    )
  })
})
