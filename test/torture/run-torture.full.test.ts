/**
 * The quick mode of `npm run torture`: a fixed number of kills and other faults on SQLite and on three replicas with PostgreSQL,
 * side by side. `PARLEY_FULL=1` kills 200 times, `PARLEY_SEED` repeats a run.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { skipReason } from '../postgres/databases.ts'
import { tableOf } from './table.ts'
import { runTorture } from './run-torture.ts'

const kills = process.env['PARLEY_FULL'] === '1' ? 200 : 12
const seed = Number(process.env['PARLEY_SEED'] ?? 15)
const hasDatabase = (await skipReason()) === false

describe(`hubs under torture (seed ${seed})`, () => {
  it('lose, double, reorder and contradict nothing that a client received', async () => {
    const store = hasDatabase ? 'both' : 'sqlite'
    const result = await runTorture({ minutes: 0, kills, seed, store, isQuick: true })
    console.log(tableOf(result))
    assert.deepEqual(
      result.deployments.flatMap(({ violations }) => violations),
      [],
    )
    for (const { world, kills: died, tasks, eventsReceived, pushes } of result.deployments) {
      assert.ok(died >= kills / result.deployments.length, `${world}: ${died} kills`)
      assert.ok(tasks > 0 && eventsReceived > 0 && pushes > 0, `${world}: ${tasks} tasks, ${eventsReceived} events`)
    }
  })
})
