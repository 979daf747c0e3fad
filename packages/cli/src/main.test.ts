import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'

it('prints commands as the user runs them: by npx where npm started it', () => {
  const errorsOf = (env: Readonly<Record<string, string>>): string =>
    spawnSync(process.execPath, ['--conditions=parley-source', join(import.meta.dirname, 'main.ts'), 'task'], {
      env,
      encoding: 'utf8',
    }).stderr
  assert.match(errorsOf({}), /`a2a task get`/)
  for (const event of ['npx', 'start'])
    assert.match(errorsOf({ npm_lifecycle_event: event }), /`npx @parley\/cli task get`/)
  assert.match(errorsOf({ npm_lifecycle_event: 'a2a', A2A_COMMAND: 'npm run a2a --' }), /`npm run a2a -- task get`/)
})
