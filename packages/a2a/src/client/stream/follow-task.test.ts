import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Agent } from '../../agents/agent.ts'
import { authRequired, data, inputRequired, reply, status } from '../../agents/reports.ts'
import type { AgentCard } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { newId } from '../../model/id.ts'
import type { StreamEvent } from '../../model/task.ts'
import { createHandler, type Handler } from '../../server/handler.ts'
import { serve } from '../../server/node.ts'
import type { AgentSettings, ServerOptions } from '../../server/options.ts'
import { cursor } from '../../server/extensions/builtin-extensions.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { eventually } from '../../testing/fixtures/eventually.ts'
import { manualTimers } from '../../testing/fixtures/manual-timers.ts'
import { disconnectingProxy } from '../../testing/fixtures/disconnecting-proxy.ts'
import { faultyStreamFetch, type FaultyCall, type StreamFaults } from '../../testing/fixtures/faulty-stream-fetch.ts'
import type { VersionId } from '../../versions/index.ts'
import { textOfParts } from '../agent-response.ts'
import { connect } from '../connect.ts'
import type { ClientLimits, ConnectOptions } from '../contract.ts'

const quick: Partial<ClientLimits> = { firstDelayMs: 1, maxDelayMs: 20, pollMs: 5, attempts: 4 }
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const versions: readonly VersionId[] = ['1.0', '0.3', '0.2']
const bindings = ['JSONRPC', 'HTTP+JSON'] as const
const ways = versions.flatMap((version) => bindings.map((binding) => ({ version, binding })))
type Way = (typeof ways)[number]

const words = Array.from({ length: 30 }, (_, index) => `word${index} `)
const whole = words.join('')
const states = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']

/** Sends text in small pieces, reports its status, and shows a table. */
const talkative: Agent = async function* () {
  for (const [index, word] of words.entries()) {
    if (index % 10 === 5) yield status(`at ${index}`)
    yield word
    await new Promise((resolve) => setImmediate(resolve))
  }
  yield data({ rows: [1, 2] })
}

const opened: (() => Promise<unknown>)[] = []
after(() => Promise.all(opened.map((close) => close())))

function createTestHandler(agent: Agent, settings: Partial<AgentSettings> & ServerOptions = {}): Handler {
  const handler = createHandler({
    store: memoryStore(),
    log: quiet,
    openAfterMs: 20,
    publicUrl: 'http://agent.test',
    ...settings,
    agent,
  })
  opened.push(() => handler.close())
  return handler
}

/** A client of `handler` over a faulty network, and its requests. */
async function connectTo(
  handler: Handler,
  fraying: StreamFaults = {},
  { version, binding }: Way = { version: '1.0', binding: 'JSONRPC' },
  options: ConnectOptions = {},
) {
  const calls: FaultyCall[] = []
  const answer = (call: FaultyCall): Response | undefined => {
    calls.push(call)
    return fraying.answer?.(call)
  }
  const card = await cardAt(handler, 'http://agent.test', { version, binding })
  const agent = await connect(card, {
    fetch: faultyStreamFetch((request) => handler.fetch(request), { ...fraying, answer }),
    ...options,
    limits: { ...quick, ...options.limits },
  })
  return { agent, calls, count: (operation: RegExp) => calls.filter((call) => operation.test(call.operation)).length }
}

async function cardAt(handler: Pick<Handler, 'fetch'>, origin: string, { version, binding }: Way): Promise<AgentCard> {
  const response = await handler.fetch(new Request('http://agent.test/.well-known/agent-card.json'))
  const card = JSON.parse(await response.text()) as AgentCard
  const url = binding === 'JSONRPC' ? `${origin}/a2a` : origin
  return { ...card, supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: version }] }
}

const textIn = (events: readonly StreamEvent[]): string =>
  events.map((event) => ('artifactUpdate' in event ? textOfParts(event.artifactUpdate.artifact.parts) : '')).join('')

const messagesIn = (events: readonly StreamEvent[]): (string | undefined)[] =>
  events.flatMap((event) => {
    const part = 'statusUpdate' in event ? event.statusUpdate.status.message?.parts[0] : undefined
    return part !== undefined && 'text' in part ? [part.text] : []
  })

for (const way of ways) {
  describe(`a stream of ${way.version} over ${way.binding} that is cut after every three events`, () => {
    it('equals an uncut one, if the peer has cursors [B-98 B-109]', async () => {
      const server = await serve({ port: 0, store: memoryStore(), log: quiet, agent: talkative, drainMs: 0 })
      const proxy = await disconnectingProxy(server.url, 3)
      opened.push(
        () => proxy.close(),
        () => server.close(),
      )
      const card = await cardAt(
        { fetch: (request) => fetch(`${server.url}${new URL(request.url).pathname}`) },
        proxy.url,
        way,
      )
      const agent = await connect(card, { limits: quick })
      const stream = agent.stream('go')
      const frames = await Array.fromAsync(stream.frames())
      const direct = await connect({
        ...card,
        supportedInterfaces: card.supportedInterfaces.map((one) => ({
          ...one,
          url: one.url.replace(proxy.url, server.url),
        })),
      })
      const uncut = await Array.fromAsync(
        direct.subscribe(stream.taskId ?? '', { lastEventId: frames[0]?.id ?? '' }).frames(),
      )
      assert.deepEqual(frames.slice(1), uncut)
      assert.ok(proxy.disconnects > 8, `${proxy.disconnects} cuts`)
      assert.equal(await agent.stream('go').text(), whole)
    })

    for (const by of ['end', 'break'] as const) {
      it(`loses and repeats nothing without cursors, cut by ${by} [B-98 B-105]`, async () => {
        const { agent, count } = await connectTo(
          createTestHandler(talkative),
          { afterEvents: 3, by, withoutIds: true },
          way,
        )
        const stream = agent.stream('go')
        const events = await stream.all()
        assert.equal(textIn(events), whole)
        assert.equal(events.filter((event) => 'task' in event).length, 1)
        const [answer, table] = await stream.artifacts()
        assert.equal(textOfParts(answer?.parts), whole)
        assert.deepEqual(table?.parts, [{ data: { rows: [1, 2] } }])
        assert.equal(new Set(messagesIn(events)).size, messagesIn(events).length)
        assert.equal(await agent.stream('go').text(), whole)
        assert.deepEqual(await agent.stream('go').states(), states)
        assert.equal(count(/[Ss]tream/), 3)
        // A subscription to a peer of 0.x may change the task that it stores.
        assert.equal(count(/ubscri/) > 0, way.version === '1.0')
      })
    }
  })
}

/** A one-time event. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: () => resolve() }
}

const resubscribe = /ubscri/
const getTask = /GetTask|tasks\/get|GET .*tasks\/[^:]+$/

for (const way of ways) {
  describe(`a stream of ${way.version} over ${way.binding}`, () => {
    it('is followed by polling if a subscription does not send the task [B-98 B-108]', async () => {
      const fraying = { afterEvents: 3, withoutIds: true, withoutSnapshot: true }
      const { agent, count } = await connectTo(createTestHandler(talkative), fraying, way)
      assert.equal(await agent.stream('go').text(), whole)
      assert.ok(count(getTask) > 0)
    })

    for (const by of ['end', 'break'] as const)
      it(`is followed by polling if a subscription sends the task and reaches its ${by} at once [B-98]`, async () => {
        const go = gate()
        const handler = createTestHandler(async function* () {
          yield 'one '
          await go.opened
          yield 'two'
        })
        const { agent, count } = await connectTo(handler, { afterEvents: 1, by, withoutIds: true }, way)
        const text = agent
          .stream('go')
          .text()
          .then((whole) => whole)
        await eventually(() => count(getTask) > 2)
        go.open()
        assert.equal(await text, 'one two')
        assert.ok(count(resubscribe) <= (quick.attempts ?? 0) + 2, 'it is not subscribed to any more')
      })

    it('is followed by polling if the peer does not stream, from the start [B-88 B-169]', async () => {
      const { agent, count } = await connectTo(createTestHandler(talkative, { streaming: false }), {}, way)
      const stream = agent.stream('go')
      const events = await stream.all()
      assert.ok(events[0] !== undefined && 'task' in events[0])
      assert.equal(events.filter((event) => 'task' in event).length, 1)
      const result = await stream.result()
      assert.equal(result.kind === 'task' && result.status.state, 'TASK_STATE_COMPLETED')
      assert.equal(textOfParts((await stream.artifacts())[0]?.parts), whole)
      assert.equal(await agent.stream('go').text(), whole)
      assert.equal(count(/[Ss]tream|ubscri/), 0)
    })

    it('of a finished task returns it once; after a cursor, later events [B-106 B-108 B-109]', async () => {
      const { agent } = await connectTo(
        createTestHandler(() => 'done'),
        {},
        way,
      )
      const first = agent.stream('go')
      const all = await Array.fromAsync(first.frames())
      const id = first.taskId ?? ''
      const shown = await agent.subscribe(id).all()
      assert.ok(shown.length === 1 && shown[0] !== undefined && 'task' in shown[0])
      assert.equal(await agent.subscribe(id).text(), 'done')
      for (const [index, { id: lastEventId = '' }] of all.entries()) {
        const rest = agent.subscribe(id, { lastEventId })
        assert.deepEqual(await Array.fromAsync(rest.frames()), all.slice(index + 1), `after ${lastEventId}`)
      }
      const { id: lastEventId = '' } = all.at(-1) ?? {}
      assert.equal(await agent.subscribe(id, { lastEventId: all[1]?.id ?? '' }).text(), 'done')
      assert.deepEqual(await Array.fromAsync(agent.subscribe(id, { lastEventId }).text()), [])
    })

    it('of an unknown task is an error [B-106]', async () => {
      const { agent } = await connectTo(createTestHandler(talkative), {}, way)
      await assert.rejects(agent.subscribe('nowhere').all(), { code: 'TASK_NOT_FOUND' })
      await assert.rejects(agent.wait('nowhere'), { code: 'TASK_NOT_FOUND' })
    })

    it('that continues a task is not ended by the question that it answers [B-102]', async () => {
      const agents: Agent = async ({ text }) => (text === 'go' ? inputRequired('which?') : `the ${text}`)
      for (const settings of [{}, { streaming: false }, { keepOpenOnInputRequired: true }]) {
        const { agent } = await connectTo(createTestHandler(agents, settings), {}, way)
        const question = agent.stream('go')
        assert.equal((await question.states()).at(-1), 'TASK_STATE_INPUT_REQUIRED')
        const { taskId = '' } = question
        assert.equal(await agent.stream('red one', { taskId }).text(), 'the red one')
      }
    })
  })
}

describe('a stream', () => {
  it('ends with the question of a turn, also if the peer keeps it open for the answer [B-91 B-92]', async () => {
    const settings = { keepOpenOnInputRequired: true }
    for (const question of [inputRequired('which?'), authRequired('sign in')]) {
      const { agent } = await connectTo(createTestHandler(() => question, settings))
      const events = await agent.stream('go').all()
      const last = events.at(-1)
      assert.ok(last !== undefined && 'statusUpdate' in last)
      await assert.rejects(async () => agent.stream('go').text(), { code: 'INPUT_REQUIRED' })
    }
  })

  it('of a subscription outlasts a question, and delivers what follows its answer [B-107 B-157]', async () => {
    const { agent } = await connectTo(
      createTestHandler(({ text }) => (text === 'go' ? inputRequired('which?') : 'done')),
    )
    const asked = await agent.send('go')
    assert.ok(asked.kind === 'task')
    const stream = agent.subscribe(asked.id)
    const events: StreamEvent[] = []
    for await (const event of stream) {
      if (events.push(event) === 1) await agent.send('that one', { taskId: asked.id })
    }
    assert.ok(events[0] !== undefined && 'task' in events[0])
    assert.equal(textIn(events), 'done')
  })

  it('with a direct message needs nothing else [B-89]', async () => {
    const { agent, calls } = await connectTo(createTestHandler(() => reply('Hello')))
    const stream = agent.stream('Hi')
    assert.equal(await stream.text(), 'Hello')
    assert.equal((await stream.result()).kind, 'message')
    assert.equal(calls.length, 1)
  })

  it('falls back if the peer turns out not to stream', async () => {
    const fraying: StreamFaults = {
      answer: ({ isStream }) =>
        isStream ? Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32_601, message: 'no' } }) : undefined,
    }
    const { agent, count } = await connectTo(createTestHandler(talkative), fraying)
    assert.equal(await agent.stream('go').text(), whole)
    assert.equal(count(/^SendMessage$/), 1)
  })

  it('ends for the reader that leaves, and not for the task [B-103]', async () => {
    const go = gate()
    const server = await serve({
      port: 0,
      store: memoryStore(),
      log: quiet,
      drainMs: 0,
      async *agent() {
        yield 'one '
        await go.opened
        yield 'two'
      },
    })
    const proxy = await disconnectingProxy(server.url, Infinity)
    opened.push(
      () => proxy.close(),
      () => server.close(),
    )
    const own = { fetch: (request: Request) => fetch(`${server.url}${new URL(request.url).pathname}`) }
    const agent = await connect(await cardAt(own, proxy.url, { version: '1.0', binding: 'JSONRPC' }))
    const stream = agent.stream('go')
    for await (const text of stream.text()) {
      assert.equal(text, 'one ')
      break
    }
    await eventually(() => proxy.open === 0)
    const pending = agent.subscribe(stream.taskId ?? '')[Symbol.asyncIterator]()
    await pending.next()
    const waiting = pending.next()
    await eventually(() => proxy.open === 1)
    await pending.return?.()
    assert.equal((await waiting).done, true)
    await eventually(() => proxy.open === 0)
    go.open()
    const done = await agent.wait(stream.taskId ?? '')
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED')
  })

  it('keeps its deadline, and the reason of an abort', async (t) => {
    const timeoutMs = 43_211
    const deadline = manualTimers(timeoutMs)
    t.after(deadline.restore)
    const { agent } = await connectTo(createTestHandler(() => new Promise(() => {})))
    const untilDeadline = async (): Promise<void> => {
      for await (const _ of agent.stream('go', { timeoutMs, messageId: 'm' })) deadline.pass(timeoutMs)
    }
    await assert.rejects(untilDeadline(), (error) => {
      assert.ok(error instanceof A2AError && error.code === 'TIMEOUT')
      assert.deepEqual(Object.keys(error.details).sort(), ['lastEventId', 'messageId', 'taskId'])
      return true
    })
    await assert.rejects(agent.send('go', { timeoutMs: 50 }), { code: 'TIMEOUT' })
    const { id } = await agent.start('go')
    await assert.rejects(agent.wait(id, { timeoutMs: 50 }), (error) => {
      assert.ok(error instanceof A2AError && error.code === 'TIMEOUT')
      assert.equal(error.details['taskId'], id)
      return true
    })
    const controller = new AbortController()
    const reason = new Error('enough')
    await assert.rejects(
      async () => {
        for await (const _ of agent.stream('go', { signal: controller.signal })) controller.abort(reason)
      },
      (thrown) => thrown === reason,
    )
    await assert.rejects(agent.stream('go', { signal: AbortSignal.abort(reason) }).all(), (thrown) => thrown === reason)
  })

  it('with late events is corrected at its end: the final task wins [B-93]', async () => {
    const about = { taskId: 't', contextId: 'c' }
    const says = (text: string) => ({
      artifactUpdate: { ...about, artifact: { artifactId: 'a', parts: [{ text }] }, append: true },
    })
    const task = (state: string) => ({ id: 't', contextId: 'c', status: { state } })
    const events = [
      [1, { task: task('TASK_STATE_WORKING') }],
      [2, says('one ')],
      [4, says('three')],
      [3, says('two ')],
      [5, { statusUpdate: { ...about, status: { state: 'TASK_STATE_COMPLETED' } } }],
    ] as const
    const artifact = { artifactId: 'a', parts: [{ text: 'one two three' }] }
    const fraying: StreamFaults = {
      answer: ({ isStream }) =>
        isStream
          ? new Response(events.map(([id, event]) => `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`).join(''), {
              headers: { 'content-type': 'text/event-stream' },
            })
          : Response.json({ ...task('TASK_STATE_COMPLETED'), artifacts: [artifact] }),
    }
    const way = { version: '1.0', binding: 'HTTP+JSON' } as const
    const { agent } = await connectTo(createTestHandler(talkative), fraying, way)
    assert.equal(await agent.stream('go').text(), 'one two three')
    const received = await agent.stream('go').all()
    assert.deepEqual(received, [
      events[0][1],
      says('one '),
      says('three'),
      { artifactUpdate: { ...about, artifact } },
      events[4][1],
    ])
  })

  it('resends a message whose stream broke before its first event, only to peers that recognize repeats [B-164]', async () => {
    for (const isOurs of [true, false]) {
      let runs = 0
      let breaks = 2
      const handler = createTestHandler(
        () => {
          runs += 1
          return 'done'
        },
        { extensions: [cursor()] },
      )
      const card = await cardAt(handler, 'http://agent.test', { version: '1.0', binding: 'JSONRPC' })
      const capabilities = isOurs ? card.capabilities : { streaming: true }
      const messages: unknown[] = []
      const agent = await connect(
        { ...card, capabilities },
        {
          limits: quick,
          async fetch(request) {
            messages.push(JSON.parse(await request.clone().text()).params.message.messageId)
            const response = await handler.fetch(request)
            if (breaks-- <= 0) return response
            await response.text()
            return new Response(new ReadableStream({ start: (to) => to.error(new TypeError('terminated')) }), {
              headers: response.headers,
            })
          },
        },
      )
      const messageId = newId()
      const answer = agent.stream('go', { messageId }).text()
      if (isOurs) assert.equal(await answer, 'done')
      else {
        const details = { messageId, reason: 'NETWORK' }
        await assert.rejects(async () => answer, { code: 'INTERRUPTED', details })
      }
      assert.equal(messages.length, isOurs ? 3 : 1)
      assert.deepEqual([...new Set(messages)], [messageId])
      assert.equal(runs, 1)
    }
  })
})

describe('a connection', () => {
  it('that is silent is replaced by another, repeatedly if necessary [B-98]', async () => {
    for (const withoutIds of [false, true]) {
      const go = gate()
      const handler = createTestHandler(async function* () {
        yield 'one '
        await go.opened
        yield 'two'
      })
      const { agent, count } = await connectTo(handler, { withoutIds }, undefined, { limits: { idleTimeoutMs: 20 } })
      const text = agent.stream('go').text()
      const reading = text.then((whole) => whole)
      await eventually(() => count(resubscribe) > 2 * (quick.attempts ?? 0))
      go.open()
      assert.equal(await reading, 'one two')
    }
  })

  it('with heartbeats is not silent [B-101]', async (t) => {
    const idleTimeoutMs = 43_210
    const idle = manualTimers(idleTimeoutMs)
    t.after(idle.restore)
    const go = gate()
    let beats = 0
    const handler = createTestHandler(
      async function* () {
        yield 'one '
        await go.opened
        yield 'two'
      },
      { keepAliveMs: 5 },
    )
    const card = await cardAt(handler, 'http://agent.test', { version: '1.0', binding: 'JSONRPC' })
    const calls: string[] = []
    const agent = await connect(card, {
      limits: { idleTimeoutMs },
      async fetch(request) {
        calls.push(request.url)
        const response = await handler.fetch(request)
        const counted = new TransformStream<Uint8Array, Uint8Array>({
          transform(bytes, to) {
            if (new TextDecoder().decode(bytes).startsWith(':')) beats += 1
            to.enqueue(bytes)
          },
        })
        return new Response(response.body?.pipeThrough(counted), { headers: response.headers })
      },
    })
    const reading = agent
      .stream('go')
      .text()
      .then((whole) => whole)
    await eventually(() => beats > 0)
    for (let beat = 0; beat < 5; beat += 1) {
      await idle.nextSet()
      idle.pass(idleTimeoutMs - 1)
    }
    go.open()
    assert.equal(await reading, 'one two')
    assert.equal(calls.length, 1)
  })

  it('is retried up to a maximum, and the error has the cursor to continue from [B-98]', async () => {
    let isDown = false
    const handler = createTestHandler(talkative)
    const answer = ({ isStream, lastEventId }: FaultyCall): Response | undefined => {
      isDown ||= isStream && lastEventId !== undefined
      return isDown ? new Response('gone', { status: 503, headers: { 'retry-after': '0' } }) : undefined
    }
    const { agent, calls } = await connectTo(handler, { afterEvents: 3, answer })
    const stream = agent.stream('go')
    await assert.rejects(stream.all(), (error: { code: string; details: Record<string, string> }) => {
      assert.equal(error.code, 'INTERRUPTED')
      assert.equal(error.details['taskId'], stream.taskId)
      assert.equal(error.details['lastEventId'], stream.lastEventId)
      return true
    })
    assert.equal(calls.length, 1 + 4)
  })

  it("is not retried before the peer's delay, nor at all if that is too long", async (t) => {
    // The peer's second and a random part, which other timers do not have.
    const delays = manualTimers((ms) => ms > 1_000 && ms < 1_100)
    t.after(delays.restore)
    const after = async (seconds: number, maxDelayMs: number): Promise<string> => {
      let refusals = 1
      const answer = ({ operation }: FaultyCall): Response | undefined =>
        resubscribe.test(operation) && refusals-- > 0
          ? new Response('busy', { status: 429, headers: { 'retry-after': String(seconds) } })
          : undefined
      const { agent } = await connectTo(createTestHandler(talkative), { afterEvents: 20, answer }, undefined, {
        limits: { maxDelayMs },
      })
      return agent.stream('go').text()
    }
    const waits = delays.nextSet().then(() => 'waits')
    const text = after(1, 2_000)
    assert.equal(await Promise.race([waits, text]), 'waits')
    delays.pass(1_100)
    assert.equal(await text, whole)
    await assert.rejects(after(60, 2_000), { code: 'INTERRUPTED' })
  })

  it('that is forbidden is not retried', async () => {
    const answer = ({ operation }: FaultyCall): Response | undefined =>
      resubscribe.test(operation) ? new Response('', { status: 403 }) : undefined
    const { agent, count } = await connectTo(createTestHandler(talkative), { afterEvents: 3, answer })
    await assert.rejects(agent.stream('go').all(), { code: 'PERMISSION_DENIED' })
    assert.equal(count(resubscribe), 1)
  })
})

describe('waiting for a task', () => {
  it('ends with the task, by stream or by polling', async () => {
    for (const streaming of [true, false]) {
      const go = gate()
      const { agent } = await connectTo(
        createTestHandler(
          async () => {
            await go.opened
            return 'done'
          },
          { streaming },
        ),
      )
      const { id } = await agent.start('go')
      const waiting = agent.wait(id)
      go.open()
      const done = await waiting
      assert.deepEqual([done.kind, done.id, done.status.state], ['task', id, 'TASK_STATE_COMPLETED'])
      assert.deepEqual(done.artifacts?.[0]?.parts, [{ text: 'done' }])
      assert.equal((await agent.wait(id)).status.state, 'TASK_STATE_COMPLETED')
    }
  })

  it('ends with a question', async () => {
    for (const streaming of [true, false]) {
      const { agent } = await connectTo(createTestHandler(() => inputRequired('which?'), { streaming }))
      const { id } = await agent.start('go')
      assert.equal((await agent.wait(id)).status.state, 'TASK_STATE_INPUT_REQUIRED')
    }
  })
})
