/**
 * Our servers beside other SDKs and bare servers, in one run on one machine. See README.md.
 *
 *   npm run bench                    everything, about half an hour
 *   npm run bench -- --quick         about two minutes
 *   npm run bench -- --only task     one measure (may be repeated)
 *   npm run bench -- --only cluster  replicas on PostgreSQL, if there is one
 *   npm run bench -- --json          one line of JSON a measure, nothing else on stdout
 *   npm run bench -- --strict        ends with 1 if a target is missed
 *   npm run bench -- --against DIR   this checkout beside another one, and nothing else
 *   npm run bench -- --profile DIR   our servers leave CPU profiles in DIR, and the shares of their components are printed
 *   npm run bench -- --micro         what comments say that a piece of code saves, each beside what it replaces, and nothing else
 *   npm run bench -- --peers         also a2a-python, installed from PyPI
 *   npm run bench -- --write         writes the results to docs/explanation/performance.md and its plots
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { killContestants } from './contestants/contestant.ts'
import { contestantNames, lineup } from './contestants/lineup.ts'
import { chunkGroup } from './measures/chunks.ts'
import { clusterGroup } from './measures/cluster.ts'
import { crashGroup } from './measures/crash.ts'
import { dbosGroup } from './measures/dbos.ts'
import { fanOutGroups } from './measures/fan-out.ts'
import { grpcGroup } from './measures/grpc.ts'
import { hopGroup } from './measures/hop.ts'
import { firstEventGroup } from './measures/latency.ts'
import { listGroup } from './measures/list.ts'
import { comparisonPlan, fullPlan, type MeasureGroup, type Plan, quickPlan } from './measures/plan.ts'
import { pushGroup } from './measures/push.ts'
import { startGroup } from './measures/start.ts'
import { throughputGroups } from './measures/throughput.ts'
import { describeRun, writePerformancePage } from './page/performance-page.ts'
import { profileShares, readProfiles, shareLine } from './profile-shares.ts'
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
    write: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    micro: { type: 'boolean', default: false },
  },
})

if (Number(process.versions.node.split('.')[0]) < 24) {
  throw new Error(
    `The benchmark compares on Node 24 or newer; this is ${process.versions.node}. Run it by npm run bench.`,
  )
}

if (flags.micro) {
  const { printClaims } = await import('./micro/run-claims.ts')
  await printClaims()
  process.exit()
}

const groups: readonly MeasureGroup[] = [
  ...throughputGroups,
  firstEventGroup,
  grpcGroup,
  chunkGroup,
  ...fanOutGroups,
  hopGroup,
  listGroup,
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
  contestantsIn: await availableContestants({
    isQuick: flags.quick,
    withPeers: flags.peers,
    isComparison: flags.against !== undefined,
    tell,
  }),
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
  const start = performance.now()
  const done = await group.measure(plan).catch((reason: unknown) => {
    // A run of half an hour does not end because of one measure. Its targets have no verdict, and the exit code is 1.
    tell(`${group.names[0]}: not measured. ${reason instanceof Error ? reason.stack : String(reason)}`)
    process.exitCode = 1
    killContestants()
    return []
  })
  tell(`${group.names[0]}: done in ${((performance.now() - start) / 1_000).toFixed(1)} s`)
  measures.push(...done)
  if (flags.json) for (const measure of done) console.log(jsonLine(measure))
}

// With `--only`, a target without measurements is omitted.
const verdicts = (flags.against === undefined ? targets(measures) : regressions(measures)).filter(
  ({ met }) => met !== undefined || flags.only.length === 0,
)
if (!flags.json)
  console.log(`\n${formatTable(measures, contestantsOf(measures))}\n\n${verdicts.map(targetLine).join('\n')}`)
if (flags.write && flags.against === undefined) {
  writePerformancePage(measures, describeRun(flags.quick ? 'quick' : 'full'), flags.only.length > 0)
}
if (flags.profile !== undefined) {
  const print = flags.json ? tell : console.log
  for (const name of contestantNames.filter((each) => existsSync(join(flags.profile ?? '', each)))) {
    const shares = profileShares(readProfiles(join(flags.profile, name))).map(shareLine)
    print(`\nCPU of ${lineup[name].title} by component:\n${shares.join('\n')}`)
  }
}
if (flags.strict && verdicts.some((verdict) => verdict.met === false)) process.exitCode = 1
