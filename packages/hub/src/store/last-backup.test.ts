import assert from 'node:assert/strict'
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { lastBackup, recordSqliteBackup } from './last-backup.ts'

const backup = { at: 1, bytes: 2, position: 3 }

function settingsOf(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-last-backup-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  writeFileSync(join(dataDir, 'parley.db'), '')
  return { store: 'sqlite:', dataDir }
}

describe('the record of the last backup', () => {
  it('is read again, and replaces what an interrupted command left', async (t) => {
    const settings = settingsOf(t)
    writeFileSync(join(settings.dataDir, 'parley.db-backup.partial'), '{', { mode: 0o644 })
    await recordSqliteBackup(settings, backup)
    assert.deepEqual(await lastBackup(settings, memoryStore()), backup)
    assert.equal(statSync(join(settings.dataDir, 'parley.db-backup')).mode & 0o777, 0o600)
  })

  const skip = process.getuid?.() === 0 ? false : 'only root can give a file to another user'
  it('belongs to the user of the hub if root makes the backup', { skip }, async (t) => {
    const settings = settingsOf(t)
    chownSync(join(settings.dataDir, 'parley.db'), 12_345, 12_346)
    await recordSqliteBackup(settings, backup)
    const { uid, gid } = statSync(join(settings.dataDir, 'parley.db-backup'))
    assert.deepEqual([uid, gid], [12_345, 12_346])
  })
})
