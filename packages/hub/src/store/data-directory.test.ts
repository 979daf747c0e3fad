import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { makeDataDirectoryPrivate } from './data-directory.ts'

const skip = process.platform === 'win32' ? 'Windows has no such modes' : false

function prepared(t: TestContext, files: readonly string[]): { readonly mode: number; readonly warnings: number } {
  const directory = mkdtempSync(join(tmpdir(), 'parley-data-'))
  t.after(() => rmSync(directory, { recursive: true }))
  for (const name of files) writeFileSync(join(directory, name), '')
  chmodSync(directory, 0o755)
  let warnings = 0
  makeDataDirectoryPrivate(directory, { warn: () => void (warnings += 1) })
  return { mode: statSync(directory).mode & 0o777, warnings }
}

describe('a data directory that other users may read', { skip }, () => {
  it('is made private if it holds only files of the hub, the first admin key included', (t) => {
    assert.deepEqual(prepared(t, ['parley.db', 'parley.db.key', 'parley.admin-key']), { mode: 0o700, warnings: 0 })
  })

  it('stays as it is, with a warning, if it holds other files', (t) => {
    assert.deepEqual(prepared(t, ['parley.db', 'notes.txt']), { mode: 0o755, warnings: 1 })
  })
})
