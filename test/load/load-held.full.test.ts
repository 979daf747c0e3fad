/** The quick mode of `npm run load`: all kinds of clients at once, a few of each. Nothing is timed. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runLoad } from './run-load.ts'

it('answers all requests while streams, slowloris connections and silent readers are open', async () => {
  const plan = { streams: 300, slowloris: 60, silent: 30, tasksPerSecond: 20, bigMegabytes: 15, holdMs: 3_000 }
  const figures = await runLoad(plan)
  assert.deepEqual(figures.lastErrors, [])
  assert.equal(figures.streamsOpen, 300)
  assert.ok(figures.tasksDone > 0 && figures.probes > 0, JSON.stringify(figures))
  // 30 readers of 15 MB would be 450 MB if each had its own copy.
  assert.ok(figures.peakRssBytes < 900_000_000, `${figures.peakRssBytes} bytes`)
})
