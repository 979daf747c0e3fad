/** Counts a request and writes it to the SQLite file of its argument, counts another one, and waits to be killed. */
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { createStatsHistory } from '../../packages/hub/src/telemetry/stats/stats-history.ts'

const [file = ''] = process.argv.slice(2)
const history = createStatsHistory({
  kv: sqliteStore({ file }).kv,
  log: { warn: (message) => console.error(message) },
  now: Date.now,
  hasAgent: () => true,
  streams: () => 0,
  intervalMs: 3_600_000,
})
const request = { agent: 'echo', endpoint: 'call', operation: 'SendMessage', outcome: 'OK', status: 200 } as const
history.onOutcome({ ...request, durationMs: 1 })
await history.flush()
history.onOutcome({ ...request, durationMs: 1 })
console.log('written')
setInterval(() => {}, 60_000)
