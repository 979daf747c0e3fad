/**
 * `npm run load`: one hub process that holds 10,000 streams, 2,000 slowloris connections, 1,000 readers that read nothing
 * and 500 tasks a second, while another agent's echo is timed. Exits with 1 if a target is missed.
 *
 * `npm run load large`: see load-large.ts.
 *
 *   npm run load -- --streams 1000 --slowloris 200 --silent 100 --tasks 100 --seconds 20
 */
import { parseArgs } from 'node:util'
import { megabytes } from '../test/load/hub-process.ts'
import { runLoad } from '../test/load/run-load.ts'

if (process.argv[2] === 'large') {
  await import('./load-large.ts')
  process.exit()
}

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '10000' },
    slowloris: { type: 'string', default: '2000' },
    silent: { type: 'string', default: '1000' },
    tasks: { type: 'string', default: '500' },
    megabytes: { type: 'string', default: '15' },
    seconds: { type: 'string', default: '60' },
    profile: { type: 'string' },
  },
})
const plan = {
  streams: Number(values.streams),
  slowloris: Number(values.slowloris),
  silent: Number(values.silent),
  tasksPerSecond: Number(values.tasks),
  bigMegabytes: Number(values.megabytes),
  holdMs: Number(values.seconds) * 1_000,
  ...(values.profile !== undefined ? { profileFolder: values.profile } : {}),
}
const figures = await runLoad({ ...plan, tell: (line) => console.error(line) })
const { streamsOpen, slowlorisOpen, silentOpen, tasksPerSecond, p50Ms, p99Ms, maxMs, rssBytes, peakRssBytes } = figures

console.log(`open            ${streamsOpen} streams, ${slowlorisOpen} slowloris, ${silentOpen} silent readers`)
console.log(`tasks           ${figures.tasksDone}, ${tasksPerSecond.toFixed(0)} a second`)
console.log(
  `echo            p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, longest ${maxMs.toFixed(1)} ms, of ${figures.probes}`,
)
console.log(`RSS             ${megabytes(rssBytes)}, at most ${megabytes(peakRssBytes)}`)
const { runningMs, waitingMs, heldMs } = figures.thread
const share = (ms: number): string => `${Math.round((100 * ms) / heldMs)} %`
console.log(`main thread     ${share(runningMs)} of the time running, ${share(waitingMs)} waiting for a core`)
console.log(`cut by the hub  ${formatCounts(figures.cuts)}`)
console.log(`errors          ${formatCounts(figures.errors)} ${figures.lastErrors.join(' | ')}`)
for (const [name, value] of Object.entries(figures.metrics)) console.log(`${name} ${value}`)

const targets: readonly (readonly [name: string, isMet: boolean])[] = [
  ['p99 of the echo within 250 ms', p99Ms <= 250],
  ['RSS within 1.5 GB', peakRssBytes <= 1_500_000_000],
  [`${plan.streams} streams open`, streamsOpen >= plan.streams],
  [`${plan.tasksPerSecond} tasks a second`, tasksPerSecond >= plan.tasksPerSecond * 0.98],
  ['no errors', figures.errors.tasks + figures.errors.probe + figures.errors.streams === 0],
]
for (const [name, isMet] of targets) console.log(`${isMet ? '✔' : '✖'} ${name}`)
process.exit(targets.every(([, isMet]) => isMet) ? 0 : 1)

function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}
