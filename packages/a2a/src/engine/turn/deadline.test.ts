/** Timeouts: of a turn that takes too long, and of waiting for input. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Turn } from '../../agents/agent.ts'
import { inputRequired, status } from '../../agents/reports.ts'
import { isTerminal } from '../../model/state.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import {
  artifactText,
  eventually,
  historyOf,
  openTestEngine,
  textOfMessage,
  short,
  stateOfItem,
  statesOf,
} from '../../testing/fixtures/test-engine.ts'
import { faultyStore } from '../../testing/fixtures/faulty-store.ts'

/** A clock that stands still until it is moved. */
function movable(start = Date.now()) {
  let now = start
  return { now: () => now, pass: (ms: number) => void (now += ms) }
}
const never: Agent = async function* () {
  yield status('working')
  await new Promise(() => {})
}
const day = 86_400_000

describe('a turn that exceeds its limit', () => {
  it('fails its task with "Task timed out" for all waiting calls [S0-20 B-50]', async (t) => {
    const testEngine = await openTestEngine(t, never, { options: { turnTimeoutMs: 15 } })
    const stream = await testEngine.stream({ messageId: 'm1' })
    const task = await testEngine.task({ messageId: 'm1' })
    assert.equal(short(task.status.state), 'FAILED')
    assert.equal(textOfMessage(task.status.message), 'Task timed out')
    assert.equal(task.status.message?.role, 'ROLE_AGENT')
    assert.equal(statesOf(await stream.rest()).at(-1), 'FAILED')
  })

  it('gets the reason by its signal [S0-20]', async (t) => {
    const deadline = Promise.withResolvers<{ code?: string }>()
    const testEngine = await openTestEngine(
      t,
      async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        deadline.resolve(signal.reason as { code?: string })
      },
      { options: { turnTimeoutMs: 5 } },
    )
    await testEngine.task('go')
    assert.equal((await deadline.promise).code, 'TIMEOUT')
  })

  it('fails its task also before it was opened', async (t) => {
    const testEngine = await openTestEngine(t, () => new Promise(() => {}), {
      options: { turnTimeoutMs: 5, openAfterMs: 1_000 },
    })
    const task = await testEngine.task('go')
    assert.equal(textOfMessage(task.status.message), 'Task timed out')
    assert.deepEqual(historyOf(task), ['go'])
  })

  it('is the only one that fails: an end in time clears the deadline, and nothing ends twice [S0-21]', async (t) => {
    const testEngine = await openTestEngine(t, () => 'done', { options: { turnTimeoutMs: 10 } })
    const tasks = await Promise.all(Array.from({ length: 20 }, () => testEngine.task('go')))
    await sleep(25)
    for (const task of tasks) {
      assert.deepEqual(await testEngine.get(task.id), task)
      assert.equal((await testEngine.store.tasks.load(task.id))?.due, undefined)
      const ends = (await testEngine.log(task.id)).filter(
        ({ body }) => body.type === 'status' && isTerminal(body.status.state),
      )
      assert.equal(ends.length, 1)
    }
  })

  it('is found by the clock of the store, if it is too long for a timer', async (t) => {
    const clock = movable()
    const testEngine = await openTestEngine(t, never, { now: clock.now, options: { turnTimeoutMs: 30 * day } })
    const { id } = await testEngine.start('go')
    assert.equal((await testEngine.store.tasks.load(id))?.due?.at, clock.now() + 30 * day)
    clock.pass(30 * day)
    assert.equal(textOfMessage((await testEngine.reaches(id, 'TASK_STATE_FAILED')).status.message), 'Task timed out')
  })

  it('is left to the process that runs it, and taken over when its lease has expired [S0-20]', async (t) => {
    const clock = movable()
    const store = memoryStore({ leaseTtlMs: 100 * day, now: clock.now })
    let isGone = false
    const itsOwn = faultyStore(store, {
      before() {
        if (isGone) throw new Error('the process is gone')
      },
    })
    const gone = await openTestEngine(t, never, { store: itsOwn, now: clock.now, options: { turnTimeoutMs: day } })
    const { id } = await gone.start('go')
    isGone = true
    let looks = 0
    const looking = faultyStore(store, { after: (method) => void (looks += method === 'tasks.claimDue' ? 1 : 0) })
    const other = await openTestEngine(t, never, { store: looking, now: clock.now })
    clock.pass(day)
    await eventually(async () => looks > 2)
    assert.equal(short((await other.get(id)).status.state), 'WORKING')
    clock.pass(100 * day)
    assert.equal(short((await other.reaches(id, 'TASK_STATE_FAILED')).status.state), 'FAILED')
  })

  it('does not exist if turns have no limit', async (t) => {
    const testEngine = await openTestEngine(t, never, { options: { turnTimeoutMs: Infinity } })
    const { id } = await testEngine.start('go')
    assert.equal((await testEngine.store.tasks.load(id))?.due, undefined)
    assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
  })
})

describe('an unanswered question', () => {
  const asking: Agent = async function* ({ text, message }: Turn) {
    if (text === 'go') yield inputRequired('Which city?')
    else yield `went on with ${JSON.stringify([text, message.metadata ?? null])}`
  }
  const waiting: Agent = async (turn) => {
    const answer = await turn.askMessage('Which city?')
    return `went on with ${JSON.stringify([textOfMessage(answer), answer.metadata ?? null])}`
  }
  const onIts = { own: '["",{"reason":"INPUT_TIMEOUT"}]' }

  it('waits forever by default', async (t) => {
    const testEngine = await openTestEngine(t, asking)
    const { id } = await testEngine.task('go')
    assert.equal((await testEngine.store.tasks.load(id))?.due, undefined)
  })

  for (const [name, agent] of Object.entries({ 'ended the turn': asking, 'is in the middle of it': waiting })) {
    it(`fails the task with a reason if it ${name} [S2-16]`, async (t) => {
      const clock = movable()
      const inputTimeout = { afterMs: 300_000, then: 'fail' } as const
      const testEngine = await openTestEngine(t, agent, { now: clock.now, options: { inputTimeout } })
      const { id } = await testEngine.task('go')
      const watch = await testEngine.subscribe(id)
      await watch.next()
      clock.pass(300_000)
      const items = await watch.rest()
      const last = items.at(-1)?.event
      assert.ok(last !== undefined && 'statusUpdate' in last)
      assert.equal(short(last.statusUpdate.status.state), 'FAILED')
      assert.equal(textOfMessage(last.statusUpdate.status.message), 'Input timeout')
      assert.deepEqual(last.statusUpdate.metadata, { reason: 'INPUT_TIMEOUT', timeoutSeconds: 300 })
      assert.equal(items.at(-1)?.final, true)
    })

    it(`lets the agent continue without an answer, with a note, if it ${name} [S2-16]`, async (t) => {
      const clock = movable()
      const inputTimeout = { afterMs: 60_000, then: 'continue' } as const
      const testEngine = await openTestEngine(t, agent, { now: clock.now, options: { inputTimeout } })
      const { id } = await testEngine.task('go')
      const watch = await testEngine.subscribe(id)
      await watch.next()
      clock.pass(60_000)
      const items = await watch.rest()
      assert.deepEqual(statesOf(items), ['WORKING', 'COMPLETED'])
      const notice = items.find((item) => stateOfItem(item) === 'TASK_STATE_WORKING')?.event
      assert.ok(notice !== undefined && 'statusUpdate' in notice)
      assert.match(textOfMessage(notice.statusUpdate.status.message) ?? '', /No answer arrived in time/)
      const done = await testEngine.get(id)
      assert.equal(artifactText(done, done.artifacts?.[0]?.artifactId), `went on with ${onIts.own}`)
      assert.equal(historyOf(done).includes(''), false, 'and the history has no empty message')
    })
  }

  it('does not occur if the answer came in time [S2-16]', async (t) => {
    const clock = movable()
    const inputTimeout = { afterMs: 1_000, then: 'fail' } as const
    const testEngine = await openTestEngine(t, asking, {
      now: clock.now,
      options: { inputTimeout, turnTimeoutMs: day },
    })
    const { id } = await testEngine.task('go')
    const done = await testEngine.task({ taskId: id, parts: [{ text: 'Rome' }] })
    clock.pass(2_000)
    await sleep(15)
    assert.deepEqual(await testEngine.get(id), done)
  })

  it('is found after a restart, by either rule [S2-16]', async (t) => {
    for (const then of ['fail', 'continue'] as const) {
      const clock = movable()
      const store = memoryStore()
      const options = { store, now: clock.now, options: { inputTimeout: { afterMs: day, then } } }
      const before = await openTestEngine(t, asking, options)
      const { id } = await before.task('go')
      await before.engine.close()
      clock.pass(day)
      const after = await openTestEngine(t, asking, options)
      const ended = await after.reaches(id, then === 'fail' ? 'TASK_STATE_FAILED' : 'TASK_STATE_COMPLETED')
      assert.equal(artifactText(ended, 'answer-2') === undefined, then === 'fail')
    }
  })

  it('may be answered while a late sweep finds it: then the answer counts', async (t) => {
    const clock = movable()
    const inputTimeout = { afterMs: 1_000, then: 'fail' } as const
    const testEngine = await openTestEngine(t, asking, { now: clock.now, options: { inputTimeout }, sweepMs: 1 })
    for (let run = 0; run < 50; run += 1) {
      const { id } = await testEngine.task('go')
      clock.pass(1_000)
      for (let step = 0; step < run % 7; step += 1) await Promise.resolve()
      const answer = await testEngine
        .task({ taskId: id, parts: [{ text: 'Rome' }] })
        .catch((reason: { code: string }) => reason.code)
      const ended = await testEngine.get(id)
      if (answer === 'UNSUPPORTED_OPERATION') assert.equal(short(ended.status.state), 'FAILED')
      else assert.equal(short(ended.status.state), 'COMPLETED')
    }
  })

  it('that continued without an answer runs again without one after a crash [S2-16 B-52]', async (t) => {
    const clock = movable()
    const store = memoryStore({ leaseTtlMs: 1_000, now: clock.now })
    const attempts: string[] = []
    const agent: Agent = {
      resume: 'rerun',
      async *run({ text, message, resumed }: Turn) {
        if (text === 'go') {
          yield inputRequired('Which city?')
          return
        }
        attempts.push(`${resumed?.attempt ?? 1} ${String(message.metadata?.['reason'])}`)
        if (resumed === undefined) await new Promise(() => {})
        yield 'done'
      },
    }
    const options = { store, now: clock.now, options: { inputTimeout: { afterMs: 500, then: 'continue' } } } as const
    const first = await openTestEngine(t, agent, { ...options, sweepMs: 1 })
    const { id } = await first.task('go')
    clock.pass(500)
    await eventually(() => attempts.length === 1)
    await first.engine.close()
    clock.pass(1_000)
    const second = await openTestEngine(t, agent, options)
    await second.reaches(id, 'TASK_STATE_COMPLETED')
    assert.deepEqual(attempts, ['1 INPUT_TIMEOUT', '2 INPUT_TIMEOUT'])
  })
})

describe('a task with a deadline', () => {
  it('fails at it, even if its turn may take longer, and its agent gets the time', async (t) => {
    const deadline = Promise.withResolvers<number | undefined>()
    const testEngine = await openTestEngine(t, async ({ deadlineAt }) => {
      deadline.resolve(deadlineAt)
      await new Promise(() => {})
    })
    const deadlineAt = Date.now() + 60
    const task = await testEngine.task('go', { as: { deadlineAt } })
    assert.equal(textOfMessage(task.status.message), 'Task timed out')
    assert.ok(Date.now() >= deadlineAt)
    assert.equal(await deadline.promise, deadlineAt)
  })

  it('fails while it waits for input, whatever the input timeout [S0-20]', async (t) => {
    const clock = movable()
    const testEngine = await openTestEngine(t, () => inputRequired('Which?'), {
      now: clock.now,
      sweepMs: 5,
      options: { inputTimeout: { afterMs: day, then: 'continue' } },
    })
    const { id } = await testEngine.task('go', { as: { deadlineAt: clock.now() + 1_000 } })
    clock.pass(999)
    assert.equal(short((await testEngine.get(id)).status.state), 'INPUT_REQUIRED')
    clock.pass(1)
    assert.equal(textOfMessage((await testEngine.reaches(id, 'TASK_STATE_FAILED')).status.message), 'Task timed out')
  })

  it('fails while a turn asks that began before an earlier deadline was set', async (t) => {
    const clock = movable()
    const testEngine = await openTestEngine(
      t,
      async ({ messages, ask }) => {
        for await (const _ of messages) await ask('Which?')
      },
      { now: clock.now, sweepMs: 5, options: { whenBusy: 'steer', turnTimeoutMs: Infinity } },
    )
    const { id, contextId } = await testEngine.start('go')
    const steering = { taskId: id, contextId: contextId as string, messageId: 'sooner' }
    await testEngine.start(steering, { as: { deadlineAt: clock.now() + 1_000 } })
    await testEngine.reaches(id, 'TASK_STATE_INPUT_REQUIRED')
    clock.pass(1_000)
    assert.equal(textOfMessage((await testEngine.reaches(id, 'TASK_STATE_FAILED')).status.message), 'Task timed out')
  })

  it('keeps the earliest deadline of its messages, also after a restart', async (t) => {
    const clock = movable()
    const store = memoryStore({ now: clock.now, leaseTtlMs: 60_000 })
    const options = { now: clock.now, store, sweepMs: 5 }
    const testEngine = await openTestEngine(t, () => inputRequired('Which?'), options)
    const { id, contextId } = await testEngine.task('go', { as: { deadlineAt: clock.now() + 1_000 } })
    const later = { taskId: id, contextId: contextId as string, messageId: 'later' }
    await testEngine.task(later, { as: { deadlineAt: clock.now() + 5_000 } })
    const other = await openTestEngine(t, () => inputRequired('Which?'), options)
    clock.pass(1_000)
    assert.equal(textOfMessage((await other.reaches(id, 'TASK_STATE_FAILED')).status.message), 'Task timed out')
  })
})
