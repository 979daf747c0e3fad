/**
 * `npm run cli-report`: runs every requirement of the a2a-cli specification against a live agent, and writes the compliance report to
 * docs/reference/cli-compliance.md and cli-compliance.yaml. The exit code is 1 if a requirement fails; the report then shows it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const child = spawn(
  process.execPath,
  ['--conditions=parley-source', '--test', ...process.argv.slice(2), 'test/cli/compliance.test.ts'],
  { cwd: root, stdio: 'inherit', env: { ...process.env, PARLEY_CLI_REPORT: 'write' } },
)
const [code] = (await once(child, 'exit')) as [number | null]
process.exitCode = code ?? 1
