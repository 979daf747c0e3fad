/**
 * `npm run test:fast`: types, lint and the unit tests of what changed, in under 20 seconds. Compares with git's HEAD, or takes
 * files and folders as arguments (`npm run test:fast -- packages/a2a/src/engine`). Options are passed to node's test runner.
 */
import { join } from 'node:path'
import { changedFiles, filesAt } from './changed-files.ts'
import { runStep } from './run-step.ts'
import { createScratchFolder } from './scratch-folder.ts'
import { selectTests } from './select-tests.ts'
import { typesAndLintSteps, unitTestSteps } from './suites.ts'
import type { Step } from './suites.ts'

const limitMs = 5 * 60_000

const startedAt = performance.now()
const root = join(import.meta.dirname, '..')
const cliArgs = process.argv.slice(2)
const paths = cliArgs.filter((word) => !word.startsWith('--'))
const testOptions = cliArgs.filter((word) => word.startsWith('--'))
const files = paths.length > 0 ? filesAt(root, process.cwd(), paths) : changedFiles(root)
const { files: tests, leftOut } = selectTests(root, files)

const scratch = createScratchFolder()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const total = { passed: 0, failed: 0, skipped: 0 }

// Concurrently: the tests mostly keep one core busy.
await Promise.all([runInOrder(typesAndLintSteps(files)), runInOrder(unitTestSteps(tests))])

if (files.length === 0) console.log('No file differs from HEAD. Give files or folders to test them.')
if (leftOut > 0) console.log(`! ${leftOut} more test files are affected: run "npm test -- units"`)
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped  (${seconds} s)`)
process.exitCode = total.failed > 0 ? 1 : 0

async function runInOrder(steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    const counts = await runStep(step, limitMs, { root, scratch, testOptions: step.countsTests ? testOptions : [] })
    total.passed += counts.passed
    total.failed += counts.failures.length
    total.skipped += counts.skipped.length
    console.log(`${counts.failures.length > 0 ? '✖' : '✔'} ${step.name}`)
  }
}
