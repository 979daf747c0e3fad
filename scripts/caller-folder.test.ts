import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const repository = join(import.meta.dirname, '..')

describe('npm run in a clone', () => {
  it('runs parley and a2a in the folder of the caller', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-clone-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const run = (...args: readonly string[]) =>
      spawnSync('npm', ['--prefix', repository, 'run', '-s', ...args], { cwd: folder, encoding: 'utf8' })
    const init = run('parley', '--', 'init')
    assert.equal(init.status, 0, init.stderr)
    assert.ok(existsSync(join(folder, 'parley.yaml')))
    writeFileSync(join(folder, 'card.json'), '{ "name": "half a card" }')
    const card = run('a2a', '--', 'card', 'get', '-a', './card.json')
    assert.match(card.stderr, /\.\/card\.json: The peer's response is malformed/)
    assert.notEqual(card.status, 0)
  })

  it('prints commands as they are run there', () => {
    const errorsOf = (...args: readonly string[]) =>
      spawnSync('npm', ['run', '-s', ...args], { cwd: repository, encoding: 'utf8' }).stderr
    assert.match(errorsOf('parley', '--', 'key', 'revoke'), /`npm run parley -- key list`/)
    assert.match(errorsOf('a2a', '--', 'task'), /`npm run a2a -- task get`/)
    assert.match(errorsOf('parley', '--', 'a2a', 'task'), /`npm run parley -- a2a task get`/)
  })
})
