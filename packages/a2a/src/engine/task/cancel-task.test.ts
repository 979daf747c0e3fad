import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import type { Agent, Turn } from '../../agents/agent.ts'
import { inputRequired, status } from '../../agents/reports.ts'
import { A2AError } from '../../model/error.ts'
import { isTerminal } from '../../model/state.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import {
  aliceContext,
  artifactText,
  openTestEngine,
  short,
  stateOfItem,
  statesOf,
  typesOf,
  type TestEngine,
} from '../../testing/fixtures/test-engine.ts'

const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve))

/** Ends when its signal aborts, and not before. */
const polite: Agent = async function* ({ signal }: Turn) {
  yield status('working')
  await untilAborted(signal)
}
/** Ignores its signal. */
const deaf: Agent = async function* () {
  yield status('working')
  await new Promise(() => {})
}

describe('a cancel', () => {
  it('returns the canceled task, and aborts the signal of the agent [B-110]', async (t) => {
    const aborted = Promise.withResolvers<unknown>()
    const testEngine = await openTestEngine(t, async function* ({ signal }: Turn) {
      yield 'one'
      await untilAborted(signal)
      aborted.resolve(signal.reason)
      yield ' last word'
    })
    const { id } = await testEngine.start('go')
    const canceled = await testEngine.cancel(id)
    assert.equal(short(canceled.status.state), 'CANCELED')
    assert.deepEqual(await aborted.promise, new A2AError('CANCELED', 'The task was canceled'))
    assert.equal(artifactText(canceled), 'one last word', 'what the agent still says in its time of grace counts')
    assert.deepEqual(await testEngine.get(id), canceled)
  })

  it('returns in any case, even if the agent ignores it [B-110]', async (t) => {
    const testEngine = await openTestEngine(t, deaf)
    const { id } = await testEngine.start('go')
    assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
    assert.deepEqual(typesOf(await testEngine.log(id)).slice(-2), ['cancel', 'status'])
  })

  it('does not wait for an agent whose turn ends with a question while the cancel is written', async (t) => {
    const store = memoryStore()
    const { append } = store.tasks
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    store.tasks.append = async (taskId, batch) => {
      if (batch.change?.status?.state === 'TASK_STATE_INPUT_REQUIRED') {
        asked.resolve()
        await held.promise
      }
      return append.call(store.tasks, taskId, batch)
    }
    const [open, agent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const testEngine = await openTestEngine(
      t,
      async function* () {
        yield status('working')
        open.resolve()
        await agent.promise
        yield inputRequired('Which city?')
      },
      { store, options: { cancelGraceMs: 600_000 } },
    )
    const { id } = await testEngine.start('go')
    await open.promise
    agent.resolve()
    await asked.promise
    const canceled = testEngine.cancel(id)
    await nextTurnOfTheLoop()
    held.resolve()
    assert.equal(short((await canceled).status.state), 'CANCELED')
  })

  it('leaves no error in the log if the agent stops by throwing, and that of an agent that fails meanwhile', async (t) => {
    for (const [thrown, note] of [
      [(signal: AbortSignal) => signal.reason as Error, undefined],
      [() => new DOMException('The operation was aborted', 'AbortError'), undefined],
      [() => new TypeError('no file'), /TypeError: no file/],
    ] as const) {
      const testEngine = await openTestEngine(t, async function* ({ signal }: Turn) {
        yield status('working')
        await untilAborted(signal)
        throw thrown(signal)
      })
      const { id } = await testEngine.start('go')
      assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
      const notes = (await testEngine.log(id)).flatMap(({ body }) => (body.type === 'note' ? [body.text] : []))
      assert.equal(notes.length, note === undefined ? 0 : 1, notes.join())
      if (note !== undefined) assert.match(notes[0] ?? '', note)
    }
  })

  it('stores its metadata in the log', async (t) => {
    const testEngine = await openTestEngine(t, polite)
    const { id } = await testEngine.start('go')
    await testEngine.engine.cancelTask({ id, metadata: { why: 'too slow' } }, aliceContext)
    const record = (await testEngine.log(id)).find(({ body }) => body.type === 'cancel')
    assert.deepEqual(record?.body, { type: 'cancel', metadata: { why: 'too slow' } })
  })

  it('of a task that has ended otherwise is TASK_NOT_CANCELABLE, and changes nothing [B-111 B-112]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => {
      if (text === 'fail') throw new Error('no')
      return 'done'
    })
    for (const done of [await testEngine.task('go'), await testEngine.task('fail')]) {
      await assert.rejects(testEngine.cancel(done.id), { code: 'TASK_NOT_CANCELABLE' })
      assert.deepEqual(await testEngine.get(done.id), done)
    }
  })

  it('twice is the same as once, in sequence or concurrently [B-112]', async (t) => {
    for (const agent of [polite, deaf]) {
      const testEngine = await openTestEngine(t, agent)
      const { id } = await testEngine.start('go')
      const [first, second] = await Promise.all([testEngine.cancel(id), testEngine.cancel(id)])
      assert.deepEqual(first, second)
      assert.deepEqual(await testEngine.cancel(id), first)
      const records = await testEngine.log(id)
      assert.equal(records.filter(({ body }) => body.type === 'cancel').length, 1)
      assert.equal(records.filter(({ body }) => body.type === 'status' && isTerminal(body.status.state)).length, 1)
    }
  })

  it('of a task that waits for input takes effect at once, because no agent runs [B-110]', async (t) => {
    const testEngine = await openTestEngine(t, () => inputRequired('Which city?'), {
      options: { cancelGraceMs: 60_000 },
    })
    const { id } = await testEngine.task('go')
    const canceled = await testEngine.cancel(id)
    assert.equal(short(canceled.status.state), 'CANCELED')
    await assert.rejects(testEngine.send({ taskId: id }), { code: 'UNSUPPORTED_OPERATION' })
  })

  it('reaches an agent that waits for an answer [B-110]', async (t) => {
    const rejected = Promise.withResolvers<unknown>()
    const testEngine = await openTestEngine(
      t,
      async (turn) => {
        await turn.ask('Which city?').catch(rejected.resolve)
      },
      { options: { cancelGraceMs: 60_000 } },
    )
    const { id } = await testEngine.task('go')
    assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
    assert.match(String(await rejected.promise), /canceled/)
  })

  it('is the last event of streams, and ends waiting calls [B-114]', async (t) => {
    const testEngine = await openTestEngine(t, polite)
    const stream = await testEngine.stream({ messageId: 'm1' })
    const [first] = await stream.through((item) => stateOfItem(item) === 'TASK_STATE_WORKING')
    assert.ok(first !== undefined && 'task' in first.event)
    const blocked = testEngine.task({ messageId: 'm1' })
    await testEngine.cancel(first.event.task.id)
    assert.equal(short((await blocked).status.state), 'CANCELED')
    const rest = await stream.rest()
    assert.deepEqual(statesOf(rest), ['CANCELED'])
    assert.equal(rest.at(-1)?.final, true)
  })

  it('drops the waiting messages', async (t) => {
    const testEngine = await openTestEngine(t, polite)
    const { id } = await testEngine.start('go')
    const second = testEngine.task({ taskId: id, parts: [{ text: 'and then' }] })
    await nextTurnOfTheLoop()
    await testEngine.cancel(id)
    assert.equal(short((await second).status.state), 'CANCELED')
    const notes = (await testEngine.log(id)).flatMap(({ body }) => (body.type === 'note' ? [body.text] : []))
    assert.deepEqual(notes, ['queued messages were dropped: TASK_STATE_CANCELED'])
  })

  it('wins over a question that the agent asks when its signal aborts', async (t) => {
    const agent: Agent = async ({ signal }) => {
      await untilAborted(signal)
      return inputRequired('Really?')
    }
    const testEngine = await openTestEngine(t, agent, { options: { cancelGraceMs: 60_000 } })
    const { id } = await testEngine.start('go')
    assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
  })

  it('drops later output of the agent [B-43]', async (t) => {
    const words = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async function* () {
      yield 'one'
      await words.promise
      yield 'two'
      yield status('three')
    })
    const { id } = await testEngine.start('go')
    const canceled = await testEngine.cancel(id)
    const log = await testEngine.log(id)
    words.resolve()
    await nextTurnOfTheLoop()
    assert.deepEqual(await testEngine.get(id), canceled)
    assert.deepEqual(await testEngine.log(id), log)
  })
})

describe('a cancel against a completion', () => {
  /** How far one call is ahead of the other: in turns of the microtask queue, or of the event loop. */
  async function later(steps: number): Promise<void> {
    if (steps >= 12) for (let step = 12; step <= steps; step += 1) await nextTurnOfTheLoop()
    else for (let step = 0; step < steps; step += 1) await Promise.resolve()
  }

  async function race(testEngine: TestEngine, gates: Map<string, () => void>, run: number): Promise<string> {
    const stream = await testEngine.stream({ messageId: `m${run}` })
    const first = await stream.next()
    assert.ok(first !== undefined && 'task' in first.event)
    const { id } = first.event.task
    const steps = (run >> 1) % 16
    const cancel = async (): Promise<string> =>
      testEngine.cancel(id).then(
        (task) => short(task.status.state),
        (reason: { code: string }) => reason.code,
      )
    const complete = (): void => gates.get(`m${run}`)?.()
    let reply: Promise<string>
    if (run % 2 === 0) {
      reply = cancel()
      await later(steps)
      complete()
    } else {
      complete()
      await later(steps)
      reply = cancel()
    }
    const rest = await stream.rest()
    const answered = await reply
    const stored = short((await testEngine.get(id)).status.state)
    const row = short((await testEngine.store.tasks.load(id))?.status.state ?? 'TASK_STATE_UNSPECIFIED')
    const streamed = statesOf(rest).at(-1)
    const expected = answered === 'TASK_NOT_CANCELABLE' ? 'COMPLETED' : 'CANCELED'
    assert.deepEqual(
      { answered, stored, row, streamed },
      { answered, stored: expected, row: expected, streamed: expected },
    )
    const ends = (await testEngine.log(id)).flatMap(({ body }) =>
      body.type === 'status' && isTerminal(body.status.state) ? [1] : [],
    )
    assert.equal(ends.length, 1, 'terminal once, and never again')
    return expected
  }

  it('has one winner, which all readers see, in thousands of races [B-113 B-43]', async (t) => {
    const gates = new Map<string, () => void>()
    const testEngine = await openTestEngine(
      t,
      async function* ({ message }: Turn) {
        const gate = Promise.withResolvers<void>()
        gates.set(message.messageId, gate.resolve)
        yield status('working')
        await gate.promise
        yield 'done'
      },
      { options: { cancelGraceMs: 1_000 } },
    )
    const won = new Map<string, number>()
    const batches = process.env['PARLEY_FULL'] === '1' ? 200 : 20
    for (let batch = 0; batch < batches; batch += 1) {
      const runs = Array.from({ length: 100 }, (_, index) => race(testEngine, gates, batch * 100 + index))
      for (const winner of await Promise.all(runs)) won.set(winner, (won.get(winner) ?? 0) + 1)
    }
    // If either order were a rare accident, the test would prove nothing.
    assert.ok(
      (won.get('COMPLETED') ?? 0) > batches * 5 && (won.get('CANCELED') ?? 0) > batches * 5,
      JSON.stringify([...won]),
    )
  })
})
