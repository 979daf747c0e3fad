/** Counts a request and writes it to the SQLite file of its argument, counts another one, and waits to be killed. */
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { openHistory } from '../../packages/hub/src/telemetry/testing/observed-history.ts'

const [file = ''] = process.argv.slice(2)
const history = openHistory({
  kv: sqliteStore({ file }).kv,
  log: { warn: (message) => console.error(message) },
  intervalMs: 3_600_000,
})
const request = { agent: 'echo', endpoint: 'call', operation: 'SendMessage', outcome: 'OK' } as const
history.onOutcome({ ...request, durationMs: 1 })
await history.flush()
history.onOutcome({ ...request, durationMs: 1 })
console.log('written')
setInterval(() => {}, 60_000)
