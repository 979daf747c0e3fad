/** The clocks of replicas differ. The times of a log never decrease anyway, and the row and the snapshot agree with it. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { LogRecord } from '../../model/record.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { Store } from '../../stores/store.ts'
import { artifactText, eventually, openTestEngine } from '../../testing/fixtures/test-engine.ts'
import { createPromptedAgent } from '../../testing/fixtures/prompted-agent.ts'
import { leaseTtlMs, startWorkingTask } from '../../testing/fixtures/replicas.ts'
import { faultyStore, type StoreFaults } from '../../testing/fixtures/faulty-store.ts'

const noon = Date.UTC(2030, 0, 1, 12)

/** `ahead` has a clock that tests move; that of `behind` stands at noon. */
async function skewedReplicas(t: TestContext, trouble: StoreFaults = {}) {
  let at = noon
  const { agent, say } = createPromptedAgent()
  const store = memoryStore({ leaseTtlMs, now: () => noon })
  const ahead = await openTestEngine(t, agent, { store, now: () => at })
  const behind = await openTestEngine(t, agent, { store: faultyStore(store, trouble), now: () => noon })
  return { ahead, behind, store, say, pass: (ms: number) => void (at += ms) }
}

async function assertInOrder(store: Store, id: string): Promise<readonly LogRecord[]> {
  const log = await store.tasks.read(id, 0)
  const times = log.map(({ at }) => at)
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
    JSON.stringify(log.map(({ at, body }) => [at - noon, body.type])),
  )
  for (const { at, body } of log) {
    if (body.type === 'status') assert.equal(body.status.timestamp, new Date(at).toISOString())
  }
  return log
}

describe('the times of a log', () => {
  it('do not decrease when an engine whose clock is behind writes after a chunk of another', async (t) => {
    const { ahead, behind, store, say, pass } = await skewedReplicas(t)
    const id = await startWorkingTask(ahead)
    pass(5_000)
    say('later than the status')
    await eventually(async () => (await store.tasks.read(id, 0)).some(({ body }) => body.type === 'artifact'))
    await behind.start({ taskId: id, parts: [{ text: 'more' }] })
    const log = await assertInOrder(store, id)
    assert.equal(log.find(({ body, seq }) => body.type === 'message' && seq > 1)?.at, noon + 5_000)
  })

  it('do not decrease when the log grows between the decision of a message and its append', async (t) => {
    const grown = Promise.withResolvers<void>()
    const decided = Promise.withResolvers<void>()
    let isArmed = false
    const { ahead, behind, store, say, pass } = await skewedReplicas(t, {
      before: async (method) => {
        if (method !== 'tasks.append' || !isArmed) return
        decided.resolve()
        await grown.promise
      },
    })
    const id = await startWorkingTask(ahead)
    await behind.get(id)
    isArmed = true
    const sent = behind.start({ taskId: id, parts: [{ text: 'more' }] })
    await decided.promise
    pass(5_000)
    say('meanwhile')
    await eventually(async () => artifactText(await ahead.get(id)) === 'meanwhile')
    grown.resolve()
    await sent
    const log = await assertInOrder(store, id)
    assert.equal(log.find(({ body, seq }) => body.type === 'message' && seq > 1)?.at, noon + 5_000)
    say('end')
    await ahead.reaches(id, 'TASK_STATE_COMPLETED')
    await assertInOrder(store, id)
  })

  it('are those of the row and of the task, whichever engine wrote the last status', async (t) => {
    const { ahead, behind, store, say, pass } = await skewedReplicas(t)
    const id = await startWorkingTask(ahead)
    pass(5_000)
    say('a')
    await eventually(async () => artifactText(await ahead.get(id)) === 'a')
    await ahead.engine.close()
    await behind.cancel(id)
    const log = await assertInOrder(store, id)
    const row = await store.tasks.load(id)
    const lastStatus = log.findLast(({ body }) => body.type === 'status')
    assert.equal(row?.status.state, 'TASK_STATE_CANCELED')
    assert.equal(row?.statusAt, lastStatus?.at)
    assert.equal(row?.statusAt, noon + 5_000)
    assert.deepEqual((await behind.get(id)).status, row?.status)
  })
})
