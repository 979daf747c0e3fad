/** What an agent receives with its turn. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent, AgentFunction, Turn } from '../../agents/agent.ts'
import { artifact, inputRequired, status } from '../../agents/reports.ts'
import type { Json, Task } from '../../model/task.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import {
  artifactText,
  eventually,
  openTestEngine,
  textOfMessage,
  short,
  typesOf,
} from '../../testing/fixtures/test-engine.ts'
import { faultyStore } from '../../testing/fixtures/faulty-store.ts'

/** Only inspects its turn, once per message. */
function looking<T>(look: (turn: Turn) => T | Promise<T>): { agent: AgentFunction; seen: T[] } {
  const seen: T[] = []
  return {
    seen,
    async agent(turn) {
      seen.push(await look(turn))
    },
  }
}
const idsOf = (tasks: readonly Task[]): readonly string[] => tasks.map(({ id }) => id)

describe('a turn', () => {
  it('has the message, its text, and its task', async (t) => {
    const { agent, seen } = looking(({ text, message, task }) => ({ text, message, task }))
    const testEngine = await openTestEngine(t, agent)
    const parts = [{ text: 'one' }, { data: 1 }, { text: 'two' }]
    const task = await testEngine.task({ messageId: 'm1', parts, metadata: { a: 1 } })
    assert.deepEqual(seen, [
      {
        text: 'one\ntwo',
        message: {
          messageId: 'm1',
          role: 'ROLE_USER',
          parts,
          metadata: { a: 1 },
          taskId: task.id,
          contextId: task.contextId,
        },
        task: { id: task.id, contextId: task.contextId, state: 'TASK_STATE_SUBMITTED' },
      },
    ])
  })

  it('may be destructured', async (t) => {
    const testEngine = await openTestEngine(
      t,
      async function* ({ text, ask, checkpoint, history, artifacts, signal }: Turn) {
        await checkpoint({ at: text })
        yield `${text} ${await ask('Which?')} ${(await history()).length} ${(await artifacts()).length} ${signal.aborted}`
      },
    )
    const { id } = await testEngine.task('go')
    assert.equal(artifactText(await testEngine.task({ taskId: id, parts: [{ text: 'Rome' }] })), 'go Rome 3 0 false')
  })

  it('has the history with its own message, and the artifacts with the latest output', async (t) => {
    const seen: unknown[] = []
    const testEngine = await openTestEngine(t, async function* ({ text, history, artifacts }: Turn) {
      seen.push([(await history()).map(textOfMessage), (await artifacts()).map(({ artifactId }) => artifactId)])
      yield artifact(`about-${text}`, { text })
      yield status('half')
      seen.push([(await history()).map(textOfMessage), (await artifacts()).map(({ artifactId }) => artifactId)])
      if (text === 'one') yield inputRequired('And?')
    })
    const { id } = await testEngine.task('one')
    await testEngine.task({ taskId: id, parts: [{ text: 'two' }] })
    assert.deepEqual(seen, [
      [['one'], []],
      [['one'], ['about-one']],
      [['one', 'half', 'And?', 'two'], ['about-one']],
      [
        ['one', 'half', 'And?', 'two'],
        ['about-one', 'about-two'],
      ],
    ])
  })

  it('has the earlier tasks of its conversation, oldest first, without its own [B-62]', async (t) => {
    const { agent, seen } = looking(async ({ context }) => idsOf(await context()))
    const testEngine = await openTestEngine(t, agent)
    const [first, second] = [await testEngine.task({ contextId: 'c' }), await testEngine.task({ contextId: 'c' })]
    await testEngine.task({ contextId: 'd' })
    await testEngine.task({ contextId: 'c' }, { as: { caller: { id: 'bob' } } })
    await testEngine.task({ contextId: 'c' }, { as: { agent: 'another' } })
    const before = seen.length
    await testEngine.task({ contextId: 'c' })
    assert.deepEqual(seen[before], [first.id, second.id])
    assert.deepEqual(seen.slice(3), [[], [], [first.id, second.id]])
  })

  it('has the tasks that its message refers to, if they belong to its caller [B-62 B-160]', async (t) => {
    const { agent, seen } = looking(async ({ references }) => idsOf(await references()))
    const testEngine = await openTestEngine(t, agent)
    const mine = await testEngine.task('hi')
    const others = [
      await testEngine.task('hi', { as: { caller: { id: 'bob' } } }),
      await testEngine.task('hi', { as: { agent: 'another' } }),
      await testEngine.task('hi', { as: { tenant: 'acme' } }),
    ]
    await testEngine.task({ referenceTaskIds: ['unknown', ...idsOf(others), mine.id, mine.id] })
    assert.deepEqual(seen.at(-1), [mine.id])
  })

  it('refers to finished tasks of the same conversation for a refinement [B-44 B-62]', async (t) => {
    const testEngine = await openTestEngine(t, async ({ text, references }) => {
      const [old] = await references()
      return old === undefined ? text : `${artifactText(old)}, ${text}`
    })
    const first = await testEngine.task('a red boat')
    const refined = await testEngine.task({
      parts: [{ text: 'but blue' }],
      contextId: first.contextId as string,
      referenceTaskIds: [first.id],
    })
    assert.notEqual(refined.id, first.id)
    assert.equal(refined.contextId, first.contextId)
    assert.equal(artifactText(refined), 'a red boat, but blue')
  })

  it('has its tenant, and an empty one without tenants [B-165]', async (t) => {
    const { agent, seen } = looking(({ tenant }) => tenant)
    const testEngine = await openTestEngine(t, agent)
    await testEngine.task('hi', { as: { tenant: 'acme' } })
    await testEngine.task('hi')
    assert.deepEqual(seen, ['acme', ''])
  })

  it('has the caller of its own message, not that of the previous turn [B-154]', async (t) => {
    const seen: unknown[] = []
    const go = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async ({ caller: { scopes, skills } }: Turn) => {
      seen.push([scopes, skills])
      await go.promise
      return 'done'
    })
    const { id } = await testEngine.start('one', { as: { caller: { id: 'alice', scopes: ['all'] } } })
    const second = { id: 'alice', scopes: ['some'], skills: ['talk'] }
    const answered = testEngine.task({ taskId: id }, { as: { caller: second } })
    await eventually(async () => typesOf(await testEngine.log(id)).filter((type) => type === 'message').length === 2)
    go.resolve()
    await answered
    assert.deepEqual(seen, [
      [['all'], undefined],
      [['some'], ['talk']],
    ])
  })

  it('reads the caller from the transport and never from the payload [B-150]', async (t) => {
    const { agent, seen } = looking(({ caller }) => caller)
    const testEngine = await openTestEngine(t, agent)
    await testEngine.task(
      { metadata: { caller: 'mallory' } },
      { as: { caller: { id: 'i|alice', scopes: ['read'] }, tenant: 'acme' } },
    )
    await testEngine.task('hi', { as: { caller: { id: 'anonymous', anonymous: true } } })
    assert.deepEqual(seen, [
      { id: 'i|alice', scopes: ['read'], tenant: 'acme' },
      { id: 'anonymous', tenant: '', anonymous: true },
    ])
  })

  it('reports whether the caller streams', async (t) => {
    const { agent, seen } = looking(({ streamed }) => streamed)
    const testEngine = await openTestEngine(t, agent)
    await testEngine.task('wait for it')
    await (await testEngine.stream('watch it')).rest()
    assert.deepEqual(seen, [false, true])
  })

  it('has the other fields of the request: output modes, metadata, extensions [B-69]', async (t) => {
    const { agent, seen } = looking(({ acceptedOutputModes, metadata, extensions }) => ({
      acceptedOutputModes,
      metadata,
      extensions,
    }))
    const testEngine = await openTestEngine(t, agent)
    await testEngine.task('hi', {
      acceptedOutputModes: ['text/plain'],
      metadata: { a: 1 },
      as: { extensions: ['https://e'] },
    })
    await testEngine.task('hi')
    assert.deepEqual(seen, [
      { acceptedOutputModes: ['text/plain'], metadata: { a: 1 }, extensions: ['https://e'] },
      { acceptedOutputModes: [], metadata: {}, extensions: [] },
    ])
  })

  it('has those of its own request, also when it waited for an earlier turn', async (t) => {
    const gate = Promise.withResolvers<void>()
    const seen: Json[] = []
    const testEngine = await openTestEngine(t, async ({ text, metadata }) => {
      if (text === 'first') await gate.promise
      seen.push(metadata)
    })
    const { id } = await testEngine.start('first', { metadata: { n: 1 } })
    const second = testEngine.task({ taskId: id, parts: [{ text: 'second' }] }, { metadata: { n: 2 } })
    await eventually(async () => (await testEngine.log(id)).filter(({ body }) => body.type === 'message').length === 2)
    gate.resolve()
    await second
    assert.deepEqual(seen, [{ n: 1 }, { n: 2 }])
  })

  it('with an open question keeps its task waiting, whatever it reports meanwhile; reports are shown after the answer', async (t) => {
    const testEngine = await openTestEngine(t, async function* (turn) {
      const answer = turn.ask('Which city?')
      yield status('Looking around')
      yield `Off to ${await answer}`
    })
    const { id, status: asked } = await testEngine.task('go')
    assert.deepEqual([short(asked.state), textOfMessage(asked.message)], ['INPUT_REQUIRED', 'Which city?'])
    assert.equal(artifactText(await testEngine.task({ taskId: id, parts: [{ text: 'Rome' }] })), 'Off to Rome')
    const texts = (await testEngine.log(id)).flatMap(({ body }) =>
      body.type === 'status' ? [textOfMessage(body.status.message)] : [],
    )
    assert.deepEqual(
      texts.filter((text) => text !== undefined && text !== ''),
      ['Which city?', 'Looking around'],
    )
  })

  it('writes to the log of the engine', async (t) => {
    const testEngine = await openTestEngine(t, ({ log }) => log.info('looking', { page: 3 }))
    await testEngine.task('go')
    const { level, message, fields } = testEngine.lines.at(-1) ?? {}
    assert.deepEqual([level, message, fields?.['page']], ['info', 'looking', 3])
  })
})

describe('the signal of a turn', () => {
  const reasons: Readonly<
    Record<string, (testEngine: Awaited<ReturnType<typeof openTestEngine>>, id: string) => unknown>
  > = {
    CANCELED: (testEngine, id) => testEngine.cancel(id),
    UNAVAILABLE: (testEngine) => testEngine.engine.close(),
    TIMEOUT: () => {},
  }
  for (const [code, end] of Object.entries(reasons)) {
    it(`aborts with the reason ${code}`, async (t) => {
      const aborted = Promise.withResolvers<{ code?: string }>()
      const testEngine = await openTestEngine(
        t,
        async ({ signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          aborted.resolve(signal.reason as { code?: string })
        },
        { options: { turnTimeoutMs: code === 'TIMEOUT' ? 5 : 10_000 } },
      )
      const { id } = await testEngine.start('go')
      await end(testEngine, id)
      assert.equal((await aborted.promise).code, code)
    })
  }

  it('does not abort when the turn ends normally, nor when the client disconnects [B-103]', async (t) => {
    const signals: AbortSignal[] = []
    const client = new AbortController()
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async ({ signal }) => {
      signals.push(signal)
      await gate.promise
    })
    const sent = testEngine.task('go', { as: { signal: client.signal } })
    await eventually(() => signals.length === 1)
    client.abort()
    gate.resolve()
    assert.equal(short((await sent).status.state), 'COMPLETED')
    assert.equal(signals[0]?.aborted, false)
  })

  it('has calls that may go without `await`: whatever becomes of them, no rejection is unhandled', async (t) => {
    const late = Promise.withResolvers<void>()
    const forgetful: readonly AgentFunction[] = [
      (turn) => void turn.askMessage({ parts: [] }),
      (turn) => void turn.checkpoint({ n: 1n as never }),
      (turn) => void late.promise.then(() => void turn.checkpoint({})),
      (turn) => void [turn.history(), turn.artifacts(), turn.context(), turn.references()],
    ]
    for (const agent of forgetful) {
      const testEngine = await openTestEngine(t, agent)
      assert.equal(short((await testEngine.task('go')).status.state), 'COMPLETED')
    }
    late.resolve()
    // node:test fails a test that leaves a rejection unhandled.
    await new Promise((resolve) => setImmediate(resolve))
  })

  it('is already aborted for late listeners', async (t) => {
    const late = Promise.withResolvers<boolean>()
    const go = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async (turn) => {
      await go.promise
      late.resolve(turn.signal.aborted)
    })
    const { id } = await testEngine.start('go')
    await testEngine.cancel(id)
    go.resolve()
    assert.equal(await late.promise, true)
  })
})

describe('a checkpoint', () => {
  it('is durable when it returns, and opens the task', async (t) => {
    const store = memoryStore()
    const durable: Json[] = []
    const slow = faultyStore(store, {
      before: (method) => (method === 'tasks.append' ? new Promise((resolve) => setTimeout(resolve, 5)) : undefined),
    })
    const agent: Agent = async (turn) => {
      for (const step of [1, 2]) {
        await turn.checkpoint({ step })
        const records = await store.tasks.read(turn.task.id, 0)
        durable.push(records.flatMap(({ body }) => (body.type === 'checkpoint' ? [body.data] : [])))
      }
    }
    const testEngine = await openTestEngine(t, agent, { store: slow, options: { openAfterMs: 60_000 } })
    await testEngine.task('go')
    assert.deepEqual(durable, [[{ step: 1 }], [{ step: 1 }, { step: 2 }]])
  })

  it('keeps the value of that time, and refuses values that are not JSON', async (t) => {
    const refused: unknown[] = []
    const testEngine = await openTestEngine(t, async ({ checkpoint }) => {
      const data = { rows: [1] }
      const kept = checkpoint(data)
      data.rows.push(2)
      await kept
      const cycle: Record<string, unknown> = {}
      cycle['itself'] = cycle
      await checkpoint(cycle).catch((reason: unknown) => refused.push(reason))
      await checkpoint(1n).catch((reason: unknown) => refused.push(reason))
    })
    const { id, status: end } = await testEngine.task('go')
    assert.equal(short(end.state), 'COMPLETED')
    assert.equal(refused.length, 2)
    const kept = (await testEngine.log(id)).flatMap(({ body }) => (body.type === 'checkpoint' ? [body.data] : []))
    assert.deepEqual(kept, [{ rows: [1] }])
  })

  it('is available to later turns, from the start and after one without checkpoints', async (t) => {
    const seen: unknown[] = []
    const testEngine = await openTestEngine(t, async function* (turn: Turn) {
      seen.push(turn.lastCheckpoint)
      if (turn.text !== 'nothing') await turn.checkpoint({ at: turn.text })
      seen.push(turn.lastCheckpoint)
      yield inputRequired('And then?')
    })
    const { id } = await testEngine.task('one')
    for (const text of ['two', 'nothing', 'three']) await testEngine.task({ taskId: id, parts: [{ text }] })
    const [one, two] = [{ at: 'one' }, { at: 'two' }]
    assert.deepEqual(seen, [undefined, undefined, one, one, two, two, two, two])
  })

  it('is not visible to clients', async (t) => {
    const testEngine = await openTestEngine(t, async function* ({ checkpoint }: Turn) {
      await checkpoint({ secret: 'token' })
      yield 'done'
    })
    const items = await (await testEngine.stream('go')).rest()
    const first = items[0]?.event
    assert.ok(first !== undefined && 'task' in first)
    assert.equal(JSON.stringify([items, await testEngine.get(first.task.id)]).includes('token'), false)
    assert.ok(typesOf(await testEngine.log(first.task.id)).includes('checkpoint'))
  })
})
