import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openSecretFiles } from './secret-files.ts'

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [baseDir, mounted, elsewhere] = ['config', 'mounted', 'elsewhere'].map((name) => {
    mkdirSync(join(folder, name))
    return join(folder, name)
  }) as [string, string, string]
  const dataDir = join(baseDir, '.parley')
  mkdirSync(dataDir)
  const secrets = openSecretFiles({ baseDir, roots: [mounted], dataDir })
  const problem = (name: string): string => JSON.stringify(secrets.read(name))
  return { folder, baseDir, mounted, elsewhere, dataDir, secrets, problem }
}

describe('a secret in a file', () => {
  it('is its content without the last line break, by a relative or an absolute path', (t) => {
    const { baseDir, mounted, secrets } = open(t)
    writeFileSync(join(baseDir, 'one'), 'first\n', { mode: 0o600 })
    writeFileSync(join(mounted, 'two'), 'two\nlines\r\n', { mode: 0o600 })
    writeFileSync(join(mounted, 'three'), '  kept  \n\n', { mode: 0o600 })
    assert.deepEqual(secrets.read('one'), { value: 'first' })
    assert.deepEqual(secrets.read('./one'), { value: 'first' })
    assert.deepEqual(secrets.read(join(mounted, 'two')), { value: 'two\nlines' })
    assert.deepEqual(secrets.read(join(mounted, 'three')), { value: '  kept  \n' })
    assert.deepEqual(
      [...secrets.files],
      ['one', 'two', 'three'].map((name, at) => join(at === 0 ? baseDir : mounted, name)),
    )
    assert.deepEqual([...secrets.warnings], [])
  })

  it('is a problem if it is a named pipe, for which nothing waits', { skip: process.platform === 'win32' }, (t) => {
    const { baseDir, problem } = open(t)
    const pipe = join(baseDir, 'pipe')
    execFileSync('mkfifo', [pipe])
    // Ends the wait of an opening that blocks, so that the test fails instead of hanging.
    const script = 'sleep 60; touch "$0.written"; echo value > "$0"'
    const writer = spawn('sh', ['-c', script, pipe], { detached: true, stdio: 'ignore' })
    t.after(() => process.kill(-(writer.pid as number), 'SIGKILL'))
    assert.match(problem('pipe'), /pipe is not a file/)
    assert.ok(!existsSync(`${pipe}.written`))
  })

  it('is a problem if it is missing, empty, too large, binary or a folder', (t) => {
    const { baseDir, problem } = open(t)
    writeFileSync(join(baseDir, 'empty'), '\n')
    writeFileSync(join(baseDir, 'large'), 'x'.repeat(64_001))
    writeFileSync(join(baseDir, 'binary'), Buffer.from([0, 1, 2]))
    assert.match(problem('none'), /none does not exist/)
    assert.match(problem('empty'), /empty is empty/)
    assert.match(problem('large'), /large is larger than 64000 bytes/)
    assert.match(problem('binary'), /binary is not text/)
    assert.match(problem(''), /must name a file/)
    mkdirSync(join(baseDir, 'folder'))
    assert.match(problem('folder'), /folder is not a file|EISDIR/)
  })

  it('is not read outside the folders for secrets, nor from the data directory, whatever path or link leads there', (t) => {
    const { baseDir, mounted, elsewhere, dataDir, problem } = open(t)
    writeFileSync(join(elsewhere, 'other'), 'other')
    writeFileSync(join(dataDir, 'parley.db.key'), 'master')
    symlinkSync(join(elsewhere, 'other'), join(mounted, 'link'))
    symlinkSync(dataDir, join(baseDir, 'data'))
    for (const name of [
      join(elsewhere, 'other'),
      '../elsewhere/other',
      join(mounted, 'link'),
      '.parley/parley.db.key',
      'data/parley.db.key',
      '/etc/passwd',
      join(elsewhere, 'missing'),
    ]) {
      assert.match(problem(name), /is not in a folder for secrets .*PARLEY_SECRET_ROOTS/, name)
    }
  })

  it('follows the links of a mounted volume, which is replaced by renaming a link', (t) => {
    const { mounted, secrets } = open(t)
    for (const [version, value] of [
      ['..1', 'old'],
      ['..2', 'new'],
    ] as const) {
      mkdirSync(join(mounted, version))
      writeFileSync(join(mounted, version, 'key'), value)
    }
    symlinkSync('..1', join(mounted, '..data'))
    symlinkSync('..data/key', join(mounted, 'key'))
    assert.deepEqual(secrets.read(join(mounted, 'key')), { value: 'old' })
    symlinkSync('..2', join(mounted, '..data_tmp'))
    renameSync(join(mounted, '..data_tmp'), join(mounted, '..data'))
    assert.deepEqual(secrets.read(join(mounted, 'key')), { value: 'new' })
  })

  it('that other users may read is reported', (t) => {
    const { baseDir, secrets } = open(t)
    writeFileSync(join(baseDir, 'open'), 'value')
    chmodSync(join(baseDir, 'open'), 0o644)
    secrets.read('open')
    secrets.read('open')
    assert.deepEqual(
      [...secrets.warnings],
      [`other users may read the secret in ${join(baseDir, 'open')}: make it private with chmod 600`],
    )
  })
})
