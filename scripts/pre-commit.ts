/**
 * The pre-commit hook (`.githooks/pre-commit`): format and lint of the staged files. It reads them from the working tree, since
 * the linter needs their imports; if only parts of a file are staged, CI decides.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { stagedFiles } from './changed-files.ts'
import { runStep } from './run-step.ts'
import { createScratchFolder } from './scratch-folder.ts'
import { formatAndLintSteps } from './suites.ts'

const limitMs = 60_000

const root = join(import.meta.dirname, '..')
const files = stagedFiles(root).filter((file) => existsSync(join(root, file)))
const scratch = createScratchFolder()
let failed = 0
for (const step of formatAndLintSteps(files)) {
  failed += (await runStep(step, limitMs, { root, scratch })).failures.length
}
if (failed > 0)
  console.error('Not committed. "npm run format" fixes the format; "git commit --no-verify" skips this check.')
process.exitCode = failed > 0 ? 1 : 0
