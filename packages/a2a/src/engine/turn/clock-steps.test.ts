/** The wall clock steps while tasks run: running turns continue, and due times still apply. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '../../agents/agent.ts'
import { inputRequired, reply } from '../../agents/reports.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { FullStore, TaskStore } from '../../stores/store.ts'
import { artifactText, eventually, openTestEngine, textOfMessage, short } from '../../testing/fixtures/test-engine.ts'
import { createPromptedAgent } from '../../testing/fixtures/prompted-agent.ts'
import { leaseTtlMs, startWorkingTask } from '../../testing/fixtures/replicas.ts'
import { steppedClock } from '../../testing/fixtures/stepped-clock.ts'

const hour = 3_600_000
const day = 24 * hour

/** Counts the claims that returned a due task: when the next claim begins, the engine has handled it. */
function watched(store: FullStore) {
  const seen = { due: 0, looks: 0 }
  const claimDue: TaskStore['claimDue'] = async (...given) => {
    seen.looks += 1
    const due = await store.tasks.claimDue(...given)
    seen.due += due.length
    return due
  }
  const acted = async (): Promise<void> => {
    await eventually(async () => seen.due > 0)
    const { looks } = seen
    await eventually(async () => seen.looks > looks + 1)
  }
  return { store: { ...store, tasks: { ...store.tasks, claimDue } }, acted, seen }
}

describe('the wall clock is set forward by a day', () => {
  it('and a running turn continues and completes', async (t) => {
    const clock = steppedClock()
    const { agent, say } = createPromptedAgent()
    const { store, acted } = watched(memoryStore({ now: clock.now }))
    const testEngine = await openTestEngine(t, agent, { ...clock, store, sweepMs: 2, options: { turnTimeoutMs: hour } })
    const id = await startWorkingTask(testEngine)
    clock.step(day)
    await acted()
    say('a', 'end')
    assert.equal(artifactText(await testEngine.reaches(id, 'TASK_STATE_COMPLETED')), 'a')
  })

  it('and so does one with a deadline, and the agent gets its remaining time', async (t) => {
    const clock = steppedClock()
    const deadlines: (number | undefined)[] = []
    const { agent, say } = createPromptedAgent()
    const { store, acted } = watched(memoryStore({ now: clock.now }))
    const looking: Agent = (turn) => {
      deadlines.push(turn.deadlineAt)
      clock.step(day)
      deadlines.push(turn.deadlineAt)
      return (agent as (given: typeof turn) => AsyncIterable<string>)(turn)
    }
    const testEngine = await openTestEngine(t, looking, { ...clock, store, sweepMs: 2 })
    const deadlineAt = clock.now() + 30_000
    const { id } = await testEngine.start('go', { as: { deadlineAt } })
    assert.deepEqual(deadlines, [deadlineAt, deadlineAt + day])
    await acted()
    say('a', 'end')
    assert.equal(artifactText(await testEngine.reaches(id, 'TASK_STATE_COMPLETED')), 'a')
  })

  it('and a question during a turn still waits for its answer', async (t) => {
    const clock = steppedClock()
    const { store, acted } = watched(memoryStore({ now: clock.now }))
    const inputTimeout = { afterMs: hour, then: 'fail' } as const
    const asking: Agent = async (turn) => `went to ${await turn.ask('Which city?')}`
    const testEngine = await openTestEngine(t, asking, { ...clock, store, sweepMs: 2, options: { inputTimeout } })
    const { id } = await testEngine.task('go')
    clock.step(day)
    await acted()
    assert.equal(short((await testEngine.get(id)).status.state), 'INPUT_REQUIRED')
    const done = await testEngine.task({ taskId: id, parts: [{ text: 'Rome' }] })
    assert.equal(artifactText(done), 'went to Rome')
  })

  it('and the turn still ends at its timeout', async (t) => {
    const clock = steppedClock()
    const { agent } = createPromptedAgent()
    const { store, acted } = watched(memoryStore({ now: clock.now }))
    const testEngine = await openTestEngine(t, agent, { ...clock, store, sweepMs: 2, options: { turnTimeoutMs: hour } })
    const id = await startWorkingTask(testEngine)
    clock.step(day)
    await acted()
    assert.equal(short((await testEngine.get(id)).status.state), 'WORKING')
    clock.pass(hour)
    assert.equal(textOfMessage((await testEngine.reaches(id, 'TASK_STATE_FAILED')).status.message), 'Task timed out')
  })

  it('and a task that does not run here is expired by the sweep', async (t) => {
    const clock = steppedClock()
    const options = { inputTimeout: { afterMs: hour, then: 'fail' } } as const
    const testEngine = await openTestEngine(t, () => inputRequired('Which city?'), { ...clock, sweepMs: 2, options })
    const { id } = await testEngine.task('go')
    clock.step(day)
    assert.equal(textOfMessage((await testEngine.reaches(id, 'TASK_STATE_FAILED')).status.message), 'Input timeout')
  })

  it('and leases that are renewed in time are kept', async (t) => {
    const clock = steppedClock()
    const { agent, say } = createPromptedAgent()
    // Like a database: leases count by its clock, and the caller's time is an offset on the caller's clock.
    const own = memoryStore({ leaseTtlMs, now: clock.monotonicNow })
    const ownTime = (at: number): number => at - clock.now() + clock.monotonicNow()
    let renewed = 0
    const store: FullStore = {
      ...own,
      tasks: {
        ...own.tasks,
        claimOrphans: (holder, at, ttlMs, limit) => own.tasks.claimOrphans(holder, ownTime(at), ttlMs, limit),
        claimDue: async () => [],
        renew: async (holder, ids, until, fences) => {
          const lost = await own.tasks.renew(holder, ids, ownTime(until), fences)
          renewed += ids.length
          return lost
        },
      },
    }
    const testEngine = await openTestEngine(t, agent, { ...clock, store, sweepMs: 2 })
    const id = await startWorkingTask(testEngine)
    await eventually(async () => renewed > 0)
    clock.step(day)
    const before = renewed
    await eventually(async () => renewed > before + 2)
    say('a', 'end')
    assert.equal(artifactText(await testEngine.reaches(id, 'TASK_STATE_COMPLETED')), 'a')
    assert.deepEqual(testEngine.lines, [])
  })
})

describe('the wall clock of another replica is set forward by a day', () => {
  it('and it does not affect turns that run here', async (t) => {
    const [clock, wrong] = [steppedClock(), steppedClock()]
    const { agent, say } = createPromptedAgent()
    // The lease outlasts the step: this is about due times.
    const shared = memoryStore({ leaseTtlMs: 100 * day, now: clock.now })
    const options = { turnTimeoutMs: hour, inputTimeout: { afterMs: hour, then: 'fail' } } as const
    const here = await openTestEngine(t, agent, { ...clock, store: shared, sweepMs: 60_000, options })
    const id = await startWorkingTask(here)
    const asking: Agent = async (turn) => `went to ${await turn.ask('Which city?')}`
    const asker = await openTestEngine(t, asking, { ...clock, store: shared, sweepMs: 60_000, options })
    const question = await asker.task('go')
    const { store, acted, seen } = watched(shared)
    wrong.step(day)
    await openTestEngine(t, agent, { ...wrong, store, sweepMs: 2, options })
    await eventually(async () => seen.due > 1)
    await acted()
    say('a', 'end')
    assert.equal(artifactText(await here.reaches(id, 'TASK_STATE_COMPLETED')), 'a')
    const answered = await asker.task({ taskId: question.id, parts: [{ text: 'Rome' }] })
    assert.equal(artifactText(answered), 'went to Rome')
  })
})

describe('the wall clock is set back by 30 days', () => {
  it('and a question during a turn still times out in time', async (t) => {
    const clock = steppedClock()
    const inputTimeout = { afterMs: 30, then: 'continue' } as const
    const asking: Agent = async (turn) => {
      clock.step(-30 * day)
      return `went to '${await turn.ask('Which city?')}'`
    }
    const testEngine = await openTestEngine(t, asking, { ...clock, sweepMs: 2, options: { inputTimeout } })
    const { id } = await testEngine.task('go')
    assert.equal(artifactText(await testEngine.reaches(id, 'TASK_STATE_COMPLETED')), `went to ''`)
  })

  it('and a message with a direct reply is still recognized', async (t) => {
    const clock = steppedClock()
    let runs = 0
    const testEngine = await openTestEngine(t, () => reply(`answer ${(runs += 1)}`), { ...clock })
    const said = { messageId: 'm1', parts: [{ text: 'hi' }] }
    const first = await testEngine.send(said)
    clock.step(30 * day)
    assert.deepEqual(await testEngine.send(said), first)
    clock.step(-60 * day)
    assert.deepEqual(await testEngine.send(said), first)
    clock.pass(60_000)
    assert.notDeepEqual(await testEngine.send(said), first)
  })
})
