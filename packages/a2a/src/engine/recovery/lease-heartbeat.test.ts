/** Leases and their duration: renewed even if other work is slow, and given up here when the store does not respond. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Turn } from '../../agents/agent.ts'
import { status } from '../../agents/reports.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { artifactText, eventually, openTestEngine } from '../../testing/fixtures/test-engine.ts'
import { createPromptedAgent } from '../../testing/fixtures/prompted-agent.ts'
import { leaseTtlMs, openReplicas, startWorkingTask } from '../../testing/fixtures/replicas.ts'
import { faultyStore } from '../../testing/fixtures/faulty-store.ts'

describe('the heartbeat', () => {
  it('keeps leases even if other work of the sweep hangs', async (t) => {
    const { agent, say } = createPromptedAgent()
    const hanging = Promise.withResolvers<void>()
    t.after(() => hanging.resolve())
    let renewed = 0
    const { here, pass } = await openReplicas(
      t,
      agent,
      { options: { turnTimeoutMs: Infinity }, sweepMs: 2 },
      {
        before: (method) => (method === 'tasks.claimDue' ? hanging.promise : undefined),
        after: (method) => void (renewed += method === 'tasks.renew' ? 1 : 0),
      },
    )
    const id = await startWorkingTask(here)
    for (let lap = 0; lap < 4; lap += 1) {
      const before = renewed
      pass(leaseTtlMs / 2)
      await eventually(async () => renewed > before + 1)
    }
    say('a', 'end')
    assert.equal(artifactText(await here.reaches(id, 'TASK_STATE_COMPLETED')), 'a')
    hanging.resolve()
  })

  it('keeps resumed tasks while the start resumes the rest', async (t) => {
    const store = memoryStore({ leaseTtlMs })
    const { agent: run } = createPromptedAgent()
    const agent = { resume: 'rerun', run } as const
    const before = await openTestEngine(t, agent, { store })
    const [one, other] = [await startWorkingTask(before), await startWorkingTask(before)]
    await before.engine.close()
    const [slow, renewed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const troubled = faultyStore(store, {
      before: (method, [id]) => (method === 'tasks.load' && id === other ? slow.promise : undefined),
      after: (method, [, ids]) => method === 'tasks.renew' && (ids as string[]).includes(one) && renewed.resolve(),
    })
    const opened = openTestEngine(t, agent, { store: troubled, sweepMs: 2 })
    await renewed.promise
    slow.resolve()
    await opened
  })

  it('stops the agent when the store has not responded for the duration of a lease, and not before', async (t) => {
    const aborted = Promise.withResolvers<{ code?: string }>()
    let [tried, silent] = [0, false]
    const { here, pass } = await openReplicas(
      t,
      async function* ({ signal }: Turn) {
        signal.addEventListener('abort', () => aborted.resolve(signal.reason as { code?: string }))
        yield status('here')
        await aborted.promise
      },
      { options: { turnTimeoutMs: Infinity }, sweepMs: 2 },
      {
        before(method) {
          if (!silent) return
          // Changes of other processes do not arrive either: they would reveal that the task was taken over.
          if (method === 'tasks.renew') tried += 1
          throw new Error('no answer')
        },
      },
    )
    await startWorkingTask(here)
    silent = true
    await eventually(async () => tried > 0)
    pass(leaseTtlMs - 1_000)
    const before = tried
    await eventually(async () => tried > before + 2)
    assert.equal(await Promise.race([aborted.promise, Promise.resolve('goes on')]), 'goes on')
    pass(1_001)
    assert.equal((await aborted.promise).code, 'UNAVAILABLE')
  })
})
