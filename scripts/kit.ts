/**
 * `npm run kit -- --kit <folder>`: the official conformance kit (a2aproject/a2a-tck, branch 1.0-dev) against the conformance
 * agent and against a hub that serves the same agent as a module. Both must fail the same tests, and only those that
 * test/conformance/kit-deviations.ts explains. The kit is a Python program and no part of this repository:
 *
 *     git clone -b 1.0-dev https://github.com/a2aproject/a2a-tck
 *     npm run kit -- --kit a2a-tck [--only streaming] [--python python3]
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { kitDeviations } from '../test/conformance/kit-deviations.ts'
import { runKit } from './kit/run-kit.ts'
import type { KitResult } from './kit/run-kit.ts'
import { kitScenarios, startAgent, startHub } from './kit/subjects.ts'
import type { KitScenario } from './kit/subjects.ts'

const { values: flags } = parseArgs({
  options: {
    kit: { type: 'string', default: process.env['PARLEY_KIT'] ?? '' },
    only: { type: 'string' },
    python: { type: 'string', default: 'python3' },
  },
})
const kit = resolve(flags.kit)
if (flags.kit === '' || !existsSync(join(kit, 'tests/compatibility'))) {
  console.error('Name a checkout of a2aproject/a2a-tck, branch 1.0-dev: npm run kit -- --kit <folder>')
  process.exit(1)
}
const scenarios = kitScenarios.filter(({ name }) => flags.only === undefined || name === flags.only)
if (scenarios.length === 0) {
  console.error(`--only is one of ${kitScenarios.map(({ name }) => name).join(', ')}`)
  process.exit(1)
}

const scratch = mkdtempSync(join(tmpdir(), 'parley-kit-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
const python = pythonWithKit()

let failed = 0
for (const scenario of scenarios) {
  const problems = await compare(scenario)
  for (const problem of problems) console.log(`✖ ${problem}`)
  if (problems.length > 0) failed += 1
}
console.log(`\n${scenarios.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

/** The dependencies of the kit are installed in a virtual environment. */
function pythonWithKit(): string {
  const environment = join(scratch, 'python')
  execFileSync(flags.python, ['-m', 'venv', environment])
  const own = join(environment, 'bin/python')
  execFileSync(own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', kit], { stdio: 'inherit' })
  return own
}

/** Concurrently: a run spends nearly all its time waiting for streams to end. */
async function compare(scenario: KitScenario): Promise<readonly string[]> {
  await using agent = await startAgent(scenario)
  await using hub = await startHub(scenario, join(scratch, scenario.name))
  const report = (name: string): string => join(scratch, `${scenario.name}-${name}.xml`)
  const [ofAgent, ofHub] = await Promise.all([
    runKit({ kit, python, url: agent.url, report: report('agent'), select: scenario.select }),
    runKit({ kit, python, url: hub.url, report: report('hub'), select: scenario.select }),
  ])
  console.log(`${scenario.name}: conformance agent ${counts(ofAgent)}; hub ${counts(ofHub)}`)
  return [...differences(scenario.name, ofAgent, ofHub), ...unexplained(scenario.name, ofHub)]
}

function counts({ passed, failed, skipped }: KitResult): string {
  return `${passed.length} / ${failed.length} / ${skipped.length}`
}

function differences(name: string, agent: KitResult, hub: KitResult): readonly string[] {
  return (['passed', 'failed', 'skipped'] as const).flatMap((outcome) =>
    hub[outcome].filter((test) => !agent[outcome].includes(test)).map((test) => `${name}: the hub ${outcome} ${test}`),
  )
}

function unexplained(name: string, { failed }: KitResult): readonly string[] {
  const known = kitDeviations.filter((deviation) => deviation.kit === '1.0-dev').flatMap(({ tests }) => tests)
  const isKnown = (test: string): boolean => known.some((each) => test.includes(each))
  return failed
    .filter((test) => !isKnown(test))
    .map((test) => `${name}: not explained in test/conformance/kit-deviations.ts: ${test}`)
}
