/** Streams with `knownTask`: everything arrives as updates to the known task. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Agent, Report, Turn } from '../../agents/agent.ts'
import { artifact, data, inputRequired, reply, status } from '../../agents/reports.ts'
import type { StreamEvent, Task } from '../../model/task.ts'
import { serve, type ServeOptions } from '../../server/node.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { faultyStreamFetch, type StreamFaults } from '../../testing/fixtures/faulty-stream-fetch.ts'
import { responseFrom, createStreamState, applyEvent } from './stream-state.ts'
import { connect } from '../connect.ts'
import type { RemoteAgent, VersionId } from '../index.ts'

const limits = { firstDelayMs: 1, maxDelayMs: 20, pollMs: 5, attempts: 4 }
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const opened: (() => Promise<unknown>)[] = []
after(() => Promise.all(opened.map((close) => close())))

const words = Array.from({ length: 12 }, (_, index) => `word${index} `)

const talkative: Agent = async function* ({ text }: Turn): AsyncGenerator<Report> {
  if (text === 'hello') return yield reply('hi')
  if (text === 'ask') return yield inputRequired('Which city?')
  yield status('at it')
  for (const word of words) {
    yield artifact('words', { text: word, append: word !== words[0] })
    await new Promise((resolve) => setImmediate(resolve))
  }
  yield data({ rows: [1, 2] })
}

async function connectTo(fraying: StreamFaults = {}, version: VersionId = '1.0', settings: Partial<ServeOptions> = {}) {
  const server = await serve({
    port: 0,
    store: memoryStore(),
    log: silent,
    drainMs: 0,
    openAfterMs: 5,
    agent: talkative,
    ...settings,
  } as ServeOptions)
  opened.push(() => server.close())
  return connect(server.url, { version, fetch: faultyStreamFetch((request) => fetch(request), fraying), limits })
}

/** The state of a reader that knew `known` and received `events`. */
function added(known: Partial<Task>, events: readonly StreamEvent[]) {
  const sum = createStreamState()
  applyEvent(sum, { task: known as Task })
  for (const event of events) {
    assert.ok(!('task' in event), 'sent the whole task')
    applyEvent(sum, event)
  }
  const answer = responseFrom(sum)
  assert.ok(answer?.kind === 'task')
  const texts = (answer.artifacts ?? []).map(({ parts }) =>
    parts.map((part) => ('text' in part ? part.text : '')).join(''),
  )
  return { state: answer.status.state, texts }
}

const done = { state: 'TASK_STATE_COMPLETED', texts: [words.join(''), ''] }

/** The task as it was after each event of its stream. */
async function stages(agent: RemoteAgent): Promise<Partial<Task>[]> {
  const sum = createStreamState()
  const kept: Partial<Task>[] = []
  for await (const event of agent.stream('go')) {
    applyEvent(sum, event)
    const { kind: _, ...task } = structuredClone(responseFrom(sum)) as Task & { kind: string }
    kept.push(task)
  }
  return kept
}

for (const version of ['1.0', '0.3'] as const) {
  describe(`with a known task, in ${version},`, () => {
    it('a stream has updates only, from the first one on', async () => {
      const agent = await connectTo({}, version)
      assert.deepEqual(added({}, await agent.stream('go', { knownTask: {} }).all()), done)
    })

    it('a stream has updates only even if the peer resends the task after each break [B-98]', async () => {
      const agent = await connectTo({ afterEvents: 3, by: 'break', withoutIds: true }, version)
      assert.deepEqual(added({}, await agent.stream('go', { knownTask: {} }).all()), done)
    })

    it('a subscription delivers the rest, whatever part is known [B-105]', async () => {
      const agent = await connectTo({}, version)
      for (const known of (await stages(agent)).slice(0, -1)) {
        const events = await agent.subscribe(known.id as string, { knownTask: known }).all()
        assert.deepEqual(added(known, events), done)
      }
    })

    it('a subscription that does not show the task first is not trusted to be complete [B-108]', async () => {
      const agent = await connectTo({ withoutSnapshot: true }, version)
      const [known = {}] = await stages(agent)
      assert.deepEqual(added(known, await agent.subscribe(known.id as string, { knownTask: known }).all()), done)
    })

    it('polling delivers the rest', async () => {
      const agent = await connectTo({}, version, { streaming: false })
      assert.deepEqual(added({}, await agent.stream('go', { knownTask: {} }).all()), done)
    })

    it('a direct message is passed on unchanged', async () => {
      const agent = await connectTo({}, version)
      const [event, ...more] = await agent.stream('hello', { knownTask: {} }).all()
      assert.ok(event !== undefined && 'message' in event)
      assert.deepEqual(more, [])
    })

    it('an answer skips the question that it answers, and gets the next one [B-102]', async () => {
      const agent = await connectTo({}, version)
      const asked = await agent.stream('ask', { knownTask: {} }).result()
      assert.ok(asked.kind === 'task' && asked.status.state === 'TASK_STATE_INPUT_REQUIRED')
      const { kind: _, ...known } = asked
      const states = async (text: string): Promise<string[]> =>
        agent.stream(text, { taskId: asked.id, knownTask: known }).states()
      assert.equal((await states('ask')).at(-1), 'TASK_STATE_INPUT_REQUIRED')
      const rest = await agent.stream('go', { taskId: asked.id, knownTask: { id: asked.id } }).all()
      assert.equal(added({}, rest).state, 'TASK_STATE_COMPLETED')
      assert.ok(!JSON.stringify(rest).includes('Which city?'))
    })
  })
}
