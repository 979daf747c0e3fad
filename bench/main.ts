/**
 * Our server beside `@a2a-js/sdk` and bare node:http, in one run on one machine. See README.md.
 *
 *   npm run bench                    everything, about twenty minutes
 *   npm run bench -- --quick         about a minute
 *   npm run bench -- --only task     one measure (may be repeated)
 *   npm run bench -- --only cluster  replicas on PostgreSQL, if there is one
 *   npm run bench -- --json          one line of JSON a measure, nothing else on stdout
 *   npm run bench -- --strict        ends with 1 if a target is missed
 *   npm run bench -- --against DIR   this checkout beside another one, and nothing else
 *   npm run bench -- --profile DIR   our server leaves CPU profiles in DIR
 */
import { parseArgs } from 'node:util'
import { chunkGroup } from './measures/chunks.ts'
import { clusterGroup } from './measures/cluster.ts'
import { crashGroup } from './measures/crash.ts'
import { dbosGroup } from './measures/dbos.ts'
import { fanOutGroups } from './measures/fan-out.ts'
import { grpcGroup } from './measures/grpc.ts'
import { hopGroup } from './measures/hop.ts'
import { firstEventGroup } from './measures/latency.ts'
import { comparisonPlan, fullPlan, type MeasureGroup, type Plan, quickPlan } from './measures/plan.ts'
import { pushGroup } from './measures/push.ts'
import { startGroup } from './measures/start.ts'
import { throughputGroups } from './measures/throughput.ts'
import { contestantsOf, jsonLine, type Measure, formatTable, targetLine } from './report.ts'
import { regressions, targets } from './targets.ts'
import { availableContestants } from './measures/available.ts'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    profile: { type: 'string' },
    against: { type: 'string' },
  },
})

if (Number(process.versions.node.split('.')[0]) < 24) {
  throw new Error(
    `The benchmark compares on Node 24 or newer; this is ${process.versions.node}. Run it by npm run bench.`,
  )
}

const groups: readonly MeasureGroup[] = [
  ...throughputGroups,
  firstEventGroup,
  grpcGroup,
  chunkGroup,
  ...fanOutGroups,
  hopGroup,
  pushGroup,
  startGroup,
  crashGroup,
  clusterGroup,
  dbosGroup,
]
const known = groups.flatMap((group) => group.names)
const unknown = flags.only.filter((name) => !known.includes(name))
if (unknown.length > 0) throw new Error(`No measure ${unknown.join(', ')}. There are: ${known.join(', ')}`)
const wants = (...names: readonly string[]): boolean =>
  flags.only.length === 0 || names.some((name) => flags.only.includes(name))

const tell = (text: string): void => void process.stderr.write(`${text}\n`)

const plan: Plan = {
  ...(flags.quick ? quickPlan : flags.against === undefined ? fullPlan : comparisonPlan),
  ...(flags.profile !== undefined && { profileTo: flags.profile }),
  contestantsIn: await availableContestants({ isQuick: flags.quick, isComparison: flags.against !== undefined, tell }),
  ...(flags.against !== undefined && { against: flags.against }),
  wants,
  tell,
}

const measures: Measure[] = []
// Replicas are compared with one another, and with no other checkout.
const comparable = groups.filter(
  (group) => flags.against === undefined || (group !== clusterGroup && group !== dbosGroup),
)
for (const group of comparable.filter(({ names }) => wants(...names))) {
  const done = await group.measure(plan)
  measures.push(...done)
  if (flags.json) for (const measure of done) console.log(jsonLine(measure))
}

// A target without measurements is omitted.
const verdicts = (flags.against === undefined ? targets(measures) : regressions(measures)).filter(
  ({ met }) => met !== undefined,
)
if (!flags.json)
  console.log(`\n${formatTable(measures, contestantsOf(measures))}\n\n${verdicts.map(targetLine).join('\n')}`)
if (flags.strict && verdicts.some((verdict) => verdict.met === false)) process.exitCode = 1
