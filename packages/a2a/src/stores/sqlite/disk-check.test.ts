import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createDiskCheck } from './disk-check.ts'
import { openSqliteDatabase } from './database.ts'
import { sqliteStore } from './sqlite-store.ts'

async function newFile(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-disk-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'parley.db')
}

describe('a SQLite file that cannot grow', () => {
  it('is not ready after a failed write, and ready again after a successful one', async (t) => {
    const file = await newFile(t)
    await sqliteStore(file).close()
    const database = openSqliteDatabase(file, 1_000)
    t.after(() => database.close())
    const check = createDiskCheck(database)
    const write = async <Result>(work: () => Result): Promise<Result> => {
      try {
        return work()
      } catch (error) {
        check.failed(error)
        throw error
      }
    }
    const fill = (): Promise<unknown> =>
      write(() => database.exec(`INSERT INTO notes VALUES (x'01', x'01', 1, 0, NULL, printf('%.*c', 1000000, 'x'))`))
    // The real SQLITE_FULL, as from a full disk.
    const count = database.prepare<{ pages: number }>('SELECT page_count AS pages FROM pragma_page_count').get()
    database.exec(`PRAGMA max_page_count = ${(count?.pages ?? 0) + 2}`)
    await check.ready(write)
    await assert.rejects(fill(), /full/)
    await assert.rejects(check.ready(write), /the database file cannot be written: .*full/)
    await assert.rejects(check.ready(write), /full/)
    database.exec('PRAGMA max_page_count = 1000000')
    await check.ready(write)
    await fill()
    assert.deepEqual(database.prepare("SELECT 1 FROM notes WHERE kind = x'00'").all(), [])
  })

  it('ignores errors that are not caused by the disk', async (t) => {
    const database = openSqliteDatabase(await newFile(t), 1_000)
    t.after(() => database.close())
    const check = createDiskCheck(database)
    check.failed(new Error('a conflict'))
    assert.throws(
      () => database.exec('nonsense'),
      (error) => {
        check.failed(error)
        return true
      },
    )
    await check.ready(() => assert.fail('nothing is written while all is well'))
  })
})
