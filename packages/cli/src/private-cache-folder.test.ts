import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { privateCacheFolder } from './private-cache-folder.ts'

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-cache-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('the folder of compiled code', () => {
  it('is created for its user alone, whatever the umask', (t) => {
    const base = newFolder(t)
    const umask = process.umask(0)
    t.after(() => process.umask(umask))
    assert.equal(privateCacheFolder('parley', base, process.getuid?.()), join(base, 'parley'))
    assert.equal(statSync(join(base, 'parley')).mode & 0o777, 0o700)
  })

  it('is not used if others may write to it, or if it cannot be created', (t) => {
    const base = newFolder(t)
    mkdirSync(join(base, 'parley'))
    chmodSync(join(base, 'parley'), 0o777)
    assert.equal(privateCacheFolder('parley', base, process.getuid?.()), undefined)
    assert.equal(privateCacheFolder('parley', '/dev/null', process.getuid?.()), undefined)
  })

  it('is never relative to the current folder', () => {
    assert.ok(!privateCacheFolder('parley', 'cache', process.getuid?.())?.startsWith(join(process.cwd(), 'cache')))
  })
})
