/** The deadline of a turn after a crash: the new run has the full time again, and other tasks do not wait for it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '../../packages/a2a/src/agents/agent.ts'
import { eventually, openTestEngine, textOfMessage } from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import { crashingStores } from '../../packages/a2a/src/testing/fixtures/crashing-store.ts'

const turnTimeoutMs = 3_600_000
const endless = (): Promise<never> => new Promise(() => {})

for (const [name, begin] of Object.entries(crashingStores)) {
  describe(`a turn whose deadline was running when the process died, over ${name},`, () => {
    it('gets a new deadline when it is run again [B-52 S0-20]', async (t) => {
      let attempts = 0
      const agent: Agent = { resume: 'rerun', run: () => ((attempts += 1), endless()) }
      const life = begin(t)
      const first = await openTestEngine(t, agent, { ...life, options: { turnTimeoutMs } })
      const { id } = await first.start('go')
      const before = (await life.store.tasks.load(id))?.due?.at as number
      const next = await life.crash()
      const restartedAt = next.now()
      await openTestEngine(t, agent, { ...next, options: { turnTimeoutMs } })
      const dueAt = async (): Promise<number> => (await next.store.tasks.load(id))?.due?.at ?? 0
      await eventually(async () => (await dueAt()) >= restartedAt + turnTimeoutMs, 'a deadline of the second attempt')
      assert.equal(attempts, 2)
      assert.ok(before < restartedAt + turnTimeoutMs, 'the first deadline would have passed for the second')
    })

    it('is failed without waiting for the deadline if it cannot be resumed [B-52 S0-20]', async (t) => {
      const life = begin(t)
      const first = await openTestEngine(t, endless, { ...life, options: { turnTimeoutMs } })
      const { id } = await first.start('go')
      const next = await life.crash()
      const second = await openTestEngine(t, endless, { ...next, options: { turnTimeoutMs } })
      const failed = await second.reaches(id, 'TASK_STATE_FAILED')
      assert.equal(textOfMessage(failed.status.message), 'The task was interrupted by a restart')
      assert.equal((await next.store.tasks.load(id))?.due, undefined)
    })
  })
}
