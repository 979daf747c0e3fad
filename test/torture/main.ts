/**
 * `npm run torture -- --minutes 60 --kills 1000 --seed 7 --store both`: see docs/contributing/testing.md. Ends with a table and with exit
 * code 1 if anything that a client received was lost, doubled, out of order or contradicted.
 */
import { parseArgs } from 'node:util'
import { runTorture } from './run-torture.ts'
import { tableOf } from './table.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    kills: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    store: { type: 'string', default: 'both' },
  },
})
const minutes = Number(values.minutes)
const store = values.store
if (!(minutes > 0)) throw new Error('--minutes must be a number above 0')
if (store !== 'sqlite' && store !== 'postgres' && store !== 'both')
  throw new Error('--store: give sqlite, postgres or both')
const seed = Number(values.seed)
const kills = Number(values.kills ?? Math.round((minutes * 1_000) / 60))

// The first signal ends the run after its round, with the table; the second one at once. Mounts and child processes end
// with this process.
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => (stopping.signal.aborted ? process.exit(1) : stopping.abort()))
}

console.log(`torture: ${minutes} minutes, ${kills} kills, store ${store}, seed ${seed}`)
const result = await runTorture({
  minutes,
  kills,
  seed,
  store,
  isQuick: false,
  signal: stopping.signal,
  log: console.log,
})
console.log(tableOf(result))
const isBroken = result.deployments.some(({ violations }) => violations.length > 0) || result.memory?.isFlat === false
process.exit(isBroken ? 1 : 0)
