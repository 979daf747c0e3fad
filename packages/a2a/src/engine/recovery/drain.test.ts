/** Planned shutdown: tasks that another process can resume are handed over at once, and the others get time to finish. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Turn } from '../../agents/agent.ts'
import { inputRequired, status } from '../../agents/reports.ts'
import {
  artifactText,
  chunksOf,
  eventually,
  openTestEngine,
  textOfMessage,
  short,
} from '../../testing/fixtures/test-engine.ts'
import { leaseTtlMs, openReplicas, startWorkingTask } from '../../testing/fixtures/replicas.ts'

const unavailable = { code: 'UNAVAILABLE' }

/** Runs until it is released; reports how often it was started. */
function held(resume: 'fail' | 'rerun') {
  const gate = Promise.withResolvers<void>()
  const attempts: number[] = []
  const agent: Agent = {
    resume,
    async *run({ text, resumed }: Turn) {
      attempts.push(resumed?.attempt ?? 1)
      yield status('here')
      if (resumed === undefined && text === 'go') await gate.promise
      yield `did ${text}`
    },
  }
  return { agent, attempts, release: () => gate.resolve() }
}

describe('an engine that closes where others share its store', () => {
  it('hands over turns that can run again, without waiting for leases to expire', async (t) => {
    const { agent, attempts } = held('rerun')
    const { here, there } = await openReplicas(t, agent, { options: { turnTimeoutMs: Infinity } })
    const id = await startWorkingTask(here)
    await here.engine.close()
    // No time has passed on the clock of the leases.
    assert.equal(artifactText(await there.reaches(id, 'TASK_STATE_COMPLETED')), 'did go')
    assert.deepEqual(attempts, [1, 2])
  })

  it('keeps tasks that wait for a message, unless they wait during a turn that cannot be resumed', async (t) => {
    const { here, there } = await openReplicas(t, ({ text, ask }) =>
      text === 'ask' ? ask('Which?') : inputRequired('Which?'),
    )
    const between = await here.task('go')
    const within = await here.task('ask')
    await here.engine.close()
    const failed = await there.reaches(within.id, 'TASK_STATE_FAILED')
    assert.match(textOfMessage(failed.status.message) ?? '', /interrupted by a restart/)
    assert.equal(short((await there.get(between.id)).status.state), 'INPUT_REQUIRED')
  })

  it('writes nothing after it has handed over', async (t) => {
    const { agent, release } = held('rerun')
    const { here, there, store } = await openReplicas(t, agent, { options: { turnTimeoutMs: Infinity } })
    const id = await startWorkingTask(here)
    await here.engine.close()
    await there.reaches(id, 'TASK_STATE_COMPLETED')
    const before = await store.tasks.read(id, 0)
    release()
    await sleep(10)
    assert.deepEqual(await store.tasks.read(id, 0), before)
  })

  it('closes even if the leases cannot be released, and logs it', async (t) => {
    let isDown = false
    const { here } = await openReplicas(
      t,
      held('rerun').agent,
      {},
      {
        before() {
          if (isDown) throw new Error('no database')
        },
      },
    )
    await startWorkingTask(here)
    isDown = true
    await here.engine.close()
    assert.ok(here.lines.some(({ level, message }) => level === 'warn' && message.includes('released')))
  })
})

describe('an engine that drains', () => {
  it('lets an agent end that cannot be resumed, and keeps its lease until then', async (t) => {
    const { agent, attempts, release } = held('fail')
    const { here, there, pass } = await openReplicas(t, agent, { options: { turnTimeoutMs: Infinity }, sweepMs: 2 })
    const id = await startWorkingTask(here)
    const stream = await here.subscribe(id)
    let isDrained = false
    const drained = here.engine.drain().then(() => void (isDrained = true))
    for (let lap = 0; lap < 4; lap += 1) {
      pass(leaseTtlMs / 2)
      await sleep(15)
    }
    assert.equal(isDrained, false)
    release()
    await drained
    assert.deepEqual(
      chunksOf(await stream.rest()).filter((text) => text !== ''),
      ['did go'],
    )
    await here.engine.close()
    assert.equal(artifactText(await there.get(id)), 'did go')
    assert.deepEqual(attempts, [1])
  })

  it('does not wait for turns that another engine can resume', async (t) => {
    const { here } = await openReplicas(t, held('rerun').agent, { options: { turnTimeoutMs: Infinity } })
    await startWorkingTask(here)
    await here.engine.drain()
  })

  it('accepts no calls and resumes nothing', async (t) => {
    const { agent } = held('rerun')
    let isDead = false
    const { here, there, pass } = await openReplicas(
      t,
      agent,
      { options: { turnTimeoutMs: Infinity }, sweepMs: 2 },
      {
        before() {
          if (isDead) throw new Error('the process is gone')
        },
      },
    )
    const id = await startWorkingTask(here)
    await there.engine.drain()
    isDead = true
    pass(leaseTtlMs)
    await sleep(20)
    await assert.rejects(there.send('hi'), unavailable)
    assert.ok(
      there.lines.every(({ message }) => !message.includes('interrupted')),
      `${id} was taken up`,
    )
  })

  it('leaves the next turn of a task to others, which do not treat it as failed', async (t) => {
    const { agent, attempts, release } = held('fail')
    const { here, there } = await openReplicas(t, agent, { options: { turnTimeoutMs: Infinity } })
    const id = await startWorkingTask(here)
    const answered = there.task({ taskId: id, parts: [{ text: 'more' }] })
    await eventually(async () => (await here.log(id)).filter(({ body }) => body.type === 'message').length === 2)
    const drained = here.engine.drain()
    release()
    await drained
    await here.engine.close()
    const done = await answered
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal(artifactText(done, 'answer-2'), 'did more')
    assert.deepEqual(attempts, [1, 1])
  })

  it('returns the result of the next turn from another engine to a caller that waits here', async (t) => {
    const { agent, release } = held('fail')
    const { here } = await openReplicas(t, agent, { options: { turnTimeoutMs: Infinity } })
    const id = await startWorkingTask(here)
    const answered = here.task({ taskId: id, parts: [{ text: 'more' }] })
    await eventually(async () => (await here.log(id)).filter(({ body }) => body.type === 'message').length === 2)
    const drained = here.engine.drain()
    release()
    await drained
    // The engine has not closed: the other one must not have waited for that.
    assert.equal(artifactText(await answered, 'answer-2'), 'did more')
  })

  it('starts the turns of waiting messages if no other engine can', async (t) => {
    const { agent, release } = held('fail')
    const testEngine = await openTestEngine(t, agent, { options: { turnTimeoutMs: Infinity } })
    const id = await startWorkingTask(testEngine)
    const answered = testEngine.task({ taskId: id, parts: [{ text: 'more' }] })
    await eventually(async () => (await testEngine.log(id)).filter(({ body }) => body.type === 'message').length === 2)
    const drained = testEngine.engine.drain()
    release()
    await drained
    assert.equal(artifactText(await answered, 'answer-2'), 'did more')
  })

  it('does the same without other engines: what ended in time has not failed at the next start', async (t) => {
    const { agent, release } = held('fail')
    const first = await openTestEngine(t, agent, { options: { turnTimeoutMs: Infinity } })
    const id = await startWorkingTask(first)
    const drained = first.engine.drain()
    release()
    await drained
    await first.engine.close()
    const second = await openTestEngine(t, agent, { store: first.store })
    assert.equal(artifactText(await second.get(id)), 'did go')
  })
})
