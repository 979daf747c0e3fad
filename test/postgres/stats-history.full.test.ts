/** The statistics of two replicas on one database: each writes rows of its own, and both read the sum. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FullStore } from '@parley/a2a/stores'
import { openHistory } from '../../packages/hub/src/telemetry/testing/observed-history.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('the statistics of two replicas', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const historyOn = ({ kv }: FullStore) => openHistory({ kv })

  it('are the same sum on both, and in a process that starts later', async () => {
    const replicas = [historyOn(database.open()), historyOn(database.open())]
    const request = { agent: 'echo', endpoint: 'call', operation: 'SendMessage', outcome: 'OK' } as const
    for (const replica of replicas) {
      for (let n = 0; n < 10; n += 1) replica.onOutcome({ ...request, durationMs: 5, caller: { id: 'ann' } })
      replica.onOutcome({ ...request, outcome: 'INTERNAL', durationMs: 5 })
    }
    await Promise.all(replicas.map((replica) => replica.flush()))
    for (const replica of [...replicas, historyOn(database.open())]) {
      const { totals } = await replica.series('30d', 'echo')
      assert.deepEqual([totals.calls, totals.errors], [22, 2])
      const usage = (await replica.usage()).get('echo')
      assert.deepEqual([usage?.calls, usage?.errors], [22, 2])
      const [ann] = await replica.callers('24h')
      assert.deepEqual([ann?.caller, ann?.calls], ['ann', 20])
    }
  })
})
