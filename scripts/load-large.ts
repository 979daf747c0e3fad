/**
 * `npm run load large`: one caller asks for 200 stored tasks of 12 MB at once, in each way in, from SQLite and from PostgreSQL, and
 * reads the answers or does not. Prints a table, and exits with 1 if others wait longer than 250 ms or the hub grows by more than
 * 400 MB.
 *
 *   npm run load large -- --ways rest,grpc --stores sqlite --seconds 5
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { megabytes } from '../test/load/hub-process.ts'
import { type Way, ways } from '../test/load/large-client.ts'
import { type LargeFigures, type LargeStore, runLargeTasks } from '../test/load/run-large-tasks.ts'
import { findCluster } from '../test/postgres/cluster.ts'
import { cloneDatabase } from '../test/postgres/databases.ts'

const { values } = parseArgs({
  args: process.argv.slice(2).filter((one) => one !== 'large'),
  options: {
    stores: { type: 'string', default: 'sqlite,postgres' },
    ways: { type: 'string', default: ways.join() },
    reads: { type: 'string', default: 'yes,no' },
    tasks: { type: 'string', default: '40' },
    megabytes: { type: 'string', default: '12' },
    requests: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '10' },
    checkout: { type: 'string' },
  },
})
const maxP99Ms = 250
const maxGrownBytes = 400_000_000
const stores = values.stores.split(',') as LargeStore[]
const missed: string[] = []

console.log(
  '| store | way | reads | answered | health p99 / longest | message p99 / longest | longest turn | RSS growth |',
)
console.log('|---|---|---|---|---|---|---|---|')
await runLargeTasks({
  stores,
  ways: values.ways.split(',') as Way[],
  reads: values.reads.split(',').map((one) => one === 'yes'),
  tasks: Number(values.tasks),
  megabytes: Number(values.megabytes),
  requests: Number(values.requests),
  caseMs: Number(values.seconds) * 1_000,
  checkout: values.checkout,
  ...(stores.includes('postgres') ? { postgresUrl: await openPostgres() } : {}),
  onFigures,
})
console.log(
  `load average ${loadavg()
    .map((one) => one.toFixed(1))
    .join(', ')}`,
)
for (const one of missed) console.log(`✖ ${one}`)
process.exit(missed.length === 0 ? 0 : 1)

function onFigures(figures: LargeFigures): void {
  const { store, way, reads, answered, refused, seconds, health, message, grownBytes, lastError } = figures
  const isMet =
    way === 'idle' ||
    (Math.max(health.p99Ms, message.p99Ms) <= maxP99Ms && grownBytes <= maxGrownBytes && refused === 0)
  if (!isMet) missed.push(`${store} ${way} ${reads ? 'read' : 'unread'} ${lastError}`)
  const times = ({ p99Ms, maxMs }: LargeFigures['health']): string => `${p99Ms.toFixed(0)} / ${maxMs.toFixed(0)} ms`
  const answers = reads ? `${answered}${refused > 0 ? ` (${refused} refused)` : ''} in ${seconds.toFixed(0)} s` : ''
  const turn = `${figures.longestTurnMs.toFixed(0)} ms`
  const row = [store, way, reads ? 'yes' : 'no', answers, times(health), times(message), turn, megabytes(grownBytes)]
  console.log(`| ${row.join(' | ')} |`)
}

async function openPostgres(): Promise<string> {
  const search = await findCluster()
  if ('missing' in search) throw new Error(search.missing)
  const { cluster } = search
  return `postgres://postgres@${cluster.host}:${cluster.port}/${await cloneDatabase(cluster)}`
}
