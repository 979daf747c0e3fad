/**
 * `npm run kit -- --kit <folder>`: the official conformance kit (a2aproject/a2a-tck, branch 1.0-dev) against the conformance
 * agent and against a hub that serves the same agent as a module. Both must fail the same tests, and only those that
 * test/conformance/kit-deviations.ts explains. The kit is a Python program and no part of this repository:
 *
 *     git clone -b 1.0-dev https://github.com/a2aproject/a2a-tck
 *     npm run kit -- --kit a2a-tck [--only streaming] [--python python3]
 *
 * `npm run kit -- --frameworks`: agent frameworks of Python instead (kit/frameworks.ts).
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { kitDeviations } from '../test/conformance/kit-deviations.ts'
import { runFrameworks } from './kit/frameworks.ts'
import { type KitResult, type KitRun, runKit } from './kit/run-kit.ts'
import { kitScenarios, startAgent, startHub } from './kit/subjects.ts'
import type { KitScenario } from './kit/subjects.ts'

const { values: flags } = parseArgs({
  options: {
    kit: { type: 'string', default: process.env['PARLEY_KIT'] ?? '' },
    only: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    frameworks: { type: 'boolean', default: false },
  },
})
const scratch = mkdtempSync(join(tmpdir(), 'parley-kit-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
const isExpected = flags.frameworks ? await runFrameworks({ ...flags, scratch }) : await runOfficialKit()
process.exitCode = isExpected ? 0 : 1

async function runOfficialKit(): Promise<boolean> {
  const kit = resolve(flags.kit)
  if (flags.kit === '' || !existsSync(join(kit, 'tests/compatibility'))) {
    console.error('Name a checkout of a2aproject/a2a-tck, branch 1.0-dev: npm run kit -- --kit <folder>')
    return false
  }
  const scenarios = kitScenarios.filter(({ name }) => flags.only === undefined || name === flags.only)
  if (scenarios.length === 0) {
    console.error(`--only is one of ${kitScenarios.map(({ name }) => name).join(', ')}`)
    return false
  }
  const python = pythonWithKit(kit)
  let failed = 0
  for (const scenario of scenarios) {
    const problems = await compare(scenario, { kit, python })
    for (const problem of problems) console.log(`✖ ${problem}`)
    if (problems.length > 0) failed += 1
  }
  console.log(`\n${scenarios.length - failed} passed, ${failed} failed`)
  return failed === 0
}

/** The dependencies of the kit are installed in a virtual environment. */
function pythonWithKit(kit: string): string {
  const environment = join(scratch, 'python')
  execFileSync(flags.python, ['-m', 'venv', environment])
  const own = join(environment, 'bin/python')
  execFileSync(own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', kit], { stdio: 'inherit' })
  return own
}

/** Concurrently: a run spends nearly all its time waiting for streams to end. */
async function compare(scenario: KitScenario, kit: Pick<KitRun, 'kit' | 'python'>): Promise<readonly string[]> {
  await using agent = await startAgent(scenario)
  await using hub = await startHub(scenario, join(scratch, scenario.name))
  const report = (name: string): string => join(scratch, `${scenario.name}-${name}.xml`)
  const [ofAgent, ofHub] = await Promise.all([
    runKit({ ...kit, url: agent.url, report: report('agent'), select: scenario.select }),
    runKit({ ...kit, url: hub.url, report: report('hub'), select: scenario.select }),
  ])
  console.log(`${scenario.name}: conformance agent ${counts(ofAgent)}; hub ${counts(ofHub)}`)
  for (const test of ofHub.failed) console.log(`  ${test}: ${reasonOf(test) ?? 'not explained'}`)
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
  return failed
    .filter((test) => reasonOf(test) === undefined)
    .map((test) => `${name}: not explained in test/conformance/kit-deviations.ts: ${test}`)
}

function reasonOf(test: string): string | undefined {
  const known = kitDeviations.find(({ kit, tests }) => kit === '1.0-dev' && tests.some((each) => test.includes(each)))
  return known?.why
}
