/** Damage to the files of a store: a start finds all acknowledged writes, or refuses and reports what is missing. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { chunks, createTask } from '../../testing/store-contract/harness.ts'
import type { Store } from '../store.ts'
import type { StoreLog } from '../store-log.ts'
import { openSqliteDatabase } from './database.ts'
import { type DatabaseState, hasLoss, isRestored } from './inspect-database.ts'
import { sqliteStore } from './index.ts'
import { type HighWaterMark, markPath, readMark } from './wal/mark-file.ts'

const tasks = 150
/** How many positions of the WAL are cut and flipped. */
const places = process.env['PARLEY_FULL'] === '1' ? 200 : 4

const fillFlag = '--fill-store'
const toFill = process.argv.indexOf(fillFlag)
if (toFill > 0) void fill(process.argv[toFill + 1] as string)
else describeDamage()

/** The child: this many tasks, each acknowledged before the next, then an abrupt end. */
async function fill(file: string): Promise<void> {
  const store = sqliteStore(file)
  for (let n = 0; n < tasks; n += 1) await createTask(store, { id: `task-${n}` }, { records: chunks(`${n}`) })
  process.kill(process.pid, 'SIGKILL')
}

async function fillAndKill(file: string): Promise<void> {
  const child = spawn(process.execPath, ['--conditions=parley-source', import.meta.filename, fillFlag, file], {
    stdio: 'inherit',
  })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL')
}

async function countTasks(store: Store): Promise<number> {
  const found = await Promise.all(Array.from({ length: tasks }, (_, n) => store.tasks.read(`task-${n}`, 0)))
  return found.filter((log) => log.length === 1).length
}

async function countAndClose(store: Store): Promise<number> {
  const count = await countTasks(store)
  await store.close()
  return count
}

function recorder(): StoreLog & { readonly said: string[] } {
  const said: string[] = []
  return { said, warn: (message) => void said.push(message), info: (message) => void said.push(message) }
}

const refusal =
  /has lost its last \d+ writes \(positions \d+ to \d+\), made (?:from \S+Z )?until \S+Z\. Restore.*--accept-loss/

function describeDamage(): void {
  describe('a SQLite store whose process was killed and whose files were damaged', () => {
    let directory = ''
    let file = ''
    let pristine: Record<'db' | 'wal' | 'mark', Buffer>

    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'parley-'))
      file = join(directory, 'tasks.db')
      await fillAndKill(file)
      pristine = { db: readFileSync(file), wal: readFileSync(`${file}-wal`), mark: readFileSync(markPath(file)) }
    })
    beforeEach(() => {
      // In place: the database stays the same file.
      writeFileSync(file, pristine.db)
      writeFileSync(`${file}-wal`, pristine.wal)
      writeFileSync(markPath(file), pristine.mark)
      rmSync(`${file}-shm`, { force: true })
    })
    after(() => rm(directory, { recursive: true }))

    /** Returns how many tasks are left, after accepting the loss if there was one. */
    async function startDamaged(wal: Buffer): Promise<number> {
      writeFileSync(`${file}-wal`, wal)
      let message = ''
      try {
        const count = await countAndClose(sqliteStore(file))
        assert.equal(count, tasks, 'a start lost tasks without an error')
        return count
      } catch (error) {
        message = (error as Error).message
      }
      assert.match(message, refusal)
      assert.deepEqual(readFileSync(`${file}-wal`), wal, 'a start that is refused changes nothing')
      assert.throws(() => sqliteStore(file), refusal, 'as often as it is tried')
      const log = recorder()
      const count = await countAndClose(sqliteStore({ file, acceptLoss: true, log }))
      assert.match(log.said.join(), /has lost its last \d+ writes.*the loss was accepted/)
      assert.ok(count < tasks)
      // From now on that is the whole database.
      assert.equal(await countAndClose(sqliteStore(file)), count)
      return count
    }

    it('has everything if nothing was damaged', async () => {
      const log = recorder()
      assert.equal(await countAndClose(sqliteStore({ file, log })), tasks)
      assert.deepEqual(log.said, ['the database was checked after an unclean shutdown'])
    })

    it('detects a WAL that is truncated at any position', async () => {
      const { length } = pristine.wal
      const cuts = [
        0,
        20,
        32,
        length - 1,
        ...Array.from({ length: places }, (_, n) => Math.floor((length * n) / places)),
      ]
      const left = []
      for (const cut of cuts) {
        beginAgain()
        left.push(await startDamaged(pristine.wal.subarray(0, cut)))
      }
      assert.ok(new Set(left).size > places / 2, 'the cuts were at different places')
    })

    it('detects a flipped byte at any position of the WAL', async () => {
      const { length } = pristine.wal
      const flips = [0, 17, 30, ...Array.from({ length: places }, (_, n) => Math.floor((length * (n + 0.37)) / places))]
      for (const at of flips) {
        beginAgain()
        const wal = Buffer.from(pristine.wal)
        wal[at] = (wal[at] as number) ^ 0x10
        assert.ok((await startDamaged(wal)) < tasks, `byte ${at}`)
      }
    })

    it('detects a missing WAL, in place and in a copy of the whole directory', async () => {
      rmSync(`${file}-wal`)
      assert.throws(() => sqliteStore(file), refusal)
      const copy = join(directory, 'copy')
      mkdirSync(copy)
      const moved = join(copy, 'tasks.db')
      writeFileSync(moved, pristine.db)
      writeFileSync(markPath(moved), pristine.mark)
      // The salt of the WAL shows that it is the same database, though another file.
      writeFileSync(`${moved}-wal`, pristine.wal.subarray(0, pristine.wal.length / 2))
      assert.throws(() => sqliteStore(moved), refusal)
    })

    it('detects a missing database', () => {
      writeFileSync(file, '')
      rmSync(`${file}-wal`)
      assert.throws(() => sqliteStore(file), /is empty but had 151 writes, the last at \S+Z\. Restore.*--accept-loss/)
    })

    it('refuses a database with a damaged page, also if the loss is accepted', () => {
      writeFileSync(`${file}-wal`, '')
      const db = Buffer.from(pristine.db)
      db.fill(0x5a, 4_096 * 3, 4_096 * 4)
      writeFileSync(file, db)
      rmSync(markPath(file))
      // A WAL that is not empty indicates an unclean shutdown if there is no mark.
      writeFileSync(`${file}-wal`, 'x')
      const sentence = /tasks\.db is damaged \(.+\)\. Restore a backup, or recover/
      assert.throws(() => sqliteStore(file), sentence)
      assert.throws(() => sqliteStore({ file, acceptLoss: true }), sentence)
    })

    it('opens a directory without a mark', async () => {
      rmSync(markPath(file))
      assert.equal(await countAndClose(sqliteStore(file)), tasks)
      assert.equal(readMark(file)?.isClean, true)
    })

    it('uses the other record of a mark if one is torn, and starts with a warning if both are', async () => {
      const torn = Buffer.from(pristine.mark)
      torn.fill(0, 40, 60)
      writeFileSync(markPath(file), torn)
      writeFileSync(`${file}-wal`, pristine.wal.subarray(0, 100_000))
      assert.throws(() => sqliteStore(file), refusal)
      torn.fill(0, 512 + 40, 512 + 60)
      writeFileSync(markPath(file), torn)
      const log = recorder()
      await sqliteStore({ file, log }).close()
      assert.match(log.said.join(), /whether writes are missing is unknown/)
      assert.equal(readMark(file)?.isClean, true)
    })

    it('works without a mark that cannot be written, with a warning', async () => {
      rmSync(markPath(file))
      mkdirSync(markPath(file))
      const log = recorder()
      const count = await countAndClose(sqliteStore({ file, log }))
      rmSync(markPath(file), { recursive: true })
      assert.equal(count, tasks)
      assert.match(log.said.join(), /cannot be written: lost writes will not be detected/)
    })

    function beginAgain(): void {
      writeFileSync(file, pristine.db)
      writeFileSync(markPath(file), pristine.mark)
      rmSync(`${file}-shm`, { force: true })
    }
  })

  describe('a SQLite store that was restored from a backup', () => {
    let directory = ''
    let file = ''
    let backup = ''
    let copy = ''
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'parley-'))
      file = join(directory, 'tasks.db')
      backup = join(directory, 'backup.db')
      copy = join(directory, 'copy.db')
      const first = sqliteStore(file)
      await createTask(first, { id: 'task-0' }, { records: chunks('0') })
      await first.close()
      copyFileSync(file, copy)
      const store = sqliteStore(file)
      await createTask(store, { id: 'task-1' }, { records: chunks('1') })
      const reader = openSqliteDatabase(file, 1_000)
      reader.exec(`VACUUM INTO '${backup}'`)
      reader.close()
      await createTask(store, { id: 'task-2' }, { records: chunks('2') })
      await store.close()
    })
    afterEach(() => rm(directory, { recursive: true }))

    const restores: Readonly<Record<string, () => void>> = {
      'a copy by VACUUM INTO, written over the file': () => copyFileSync(backup, file),
      'a copy by VACUUM INTO, in place of the file': () => renameSync(backup, file),
      'a copy of an earlier run, written over the file': () => copyFileSync(copy, file),
      'a copy of an earlier run, in place of the file': () => renameSync(copy, file),
      'without the mark': () => {
        rmSync(markPath(file))
        copyFileSync(backup, file)
      },
    }
    for (const [name, restore] of Object.entries(restores)) {
      it(`starts with what the backup has: ${name}`, async () => {
        const count = name.includes('earlier') ? 1 : 2
        restore()
        assert.equal(await countAndClose(sqliteStore(file)), count)
        const store = sqliteStore(file)
        await createTask(store, { id: 'task-100' }, { records: chunks('100') })
        await store.close()
        assert.equal(await countAndClose(sqliteStore(file)), count + 1)
      })
    }

    it('ignores the mark of another database', async () => {
      const other = join(directory, 'other.db')
      await sqliteStore(other).close()
      assert.ok((readMark(file)?.position as number) > 2)
      copyFileSync(markPath(file), markPath(other))
      await sqliteStore(other).close()
      assert.equal(readMark(other)?.position, 2)
    })

    it('requires acceptance if a copy of the same run, written over the file, looks like damage', async () => {
      const reader = openSqliteDatabase(backup, 0)
      reader.exec('PRAGMA journal_mode = WAL')
      reader.close()
      copyFileSync(backup, file)
      assert.throws(() => sqliteStore(file), /has lost its last 1 writes/)
      assert.equal(await countAndClose(sqliteStore({ file, acceptLoss: true })), 2)
      assert.equal(await countAndClose(sqliteStore(file)), 2)
    })
  })

  describe('the high-water mark', () => {
    let directory = ''
    let file = ''
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'parley-'))
      file = join(directory, 'tasks.db')
    })
    afterEach(() => rm(directory, { recursive: true }))

    const positionIn = (): number => {
      const reader = openSqliteDatabase(file, 1_000)
      const sql = 'SELECT max(last_position, coalesce((SELECT max(position) FROM log), 0)) AS n FROM engine'
      const position = reader.prepare<{ n: number }>(sql).get()?.n as number
      reader.close()
      return position
    }

    it('covers all acknowledged writes, and does not move without writes', async () => {
      const store = sqliteStore(file)
      const reached: number[] = []
      const look = (): void => {
        reached.push(readMark(file)?.position as number)
        assert.equal(reached.at(-1), positionIn())
      }
      await createTask(store)
      look()
      await store.kv.write('kind', { key: 'a', value: 1 })
      look()
      await store.keys.save({ id: 'k', purpose: 'p', material: 'm', createdAt: 1 })
      look()
      // Nothing to claim: nothing is written.
      await store.tasks.claimOrphans('me', Date.now(), 1, 10)
      await store.push.claim(Date.now(), 1, 10)
      look()
      assert.deepEqual(reached, [2, 3, 4, 4])
      await store.close()
      look()
      assert.equal(readMark(file)?.isClean, true)
    })

    it('is not ahead after a job of a group failed that had a position', async () => {
      const store = sqliteStore(file)
      const good = createTask(store, { id: 'good' })
      const bad = createTask(store, { id: 'bad', statusAt: 0.5 })
      await Promise.allSettled([good, bad])
      assert.equal(readMark(file)?.position, positionIn())
      await store.close()
    })

    it('waits for the sync of the WAL at normal durability: a power loss may lose unsynced writes', async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const store = sqliteStore({ file, durability: 'normal' })
      await createTask(store)
      assert.equal(readMark(file)?.position, 1)
      await store.close()
      assert.equal(readMark(file)?.position, 2)
    })

    it('does not exist for a database in memory', async () => {
      const store = sqliteStore(':memory:')
      await createTask(store)
      await store.close()
      assert.equal(readMark(':memory:'), undefined)
    })
  })

  describe('the verdict of a mark on a database', () => {
    const mark: HighWaterMark = {
      inode: 1n,
      birth: 10n,
      epoch: 3,
      anchor: 3,
      position: 50,
      at: 0,
      isClean: false,
      wal: { salt: 7n, frames: 100 },
    }
    const same: DatabaseState = { ...mark, isWal: true, lastAt: 0 }
    const verdict = (state: Partial<DatabaseState>): string => {
      const whole = { ...same, ...state }
      return isRestored(whole, mark) ? 'restored' : hasLoss(whole, mark) ? 'loss' : 'whole'
    }

    it('is complete if the position exists, in this WAL or the next', () => {
      assert.equal(verdict({}), 'whole')
      assert.equal(verdict({ position: 51, wal: { salt: 7n, frames: 103 } }), 'whole')
      assert.equal(verdict({ position: 51, wal: { salt: 8n, frames: 2 } }), 'whole')
      assert.equal(verdict({ wal: { salt: 0n, frames: 0 } }), 'whole')
    })

    it('is damaged if the WAL ends early although the position is in the file: old pages hide the new ones', () => {
      assert.equal(verdict({ wal: { salt: 7n, frames: 99 } }), 'loss')
    })

    it('is damaged if the position is missing, with any WAL', () => {
      for (const salt of [0n, 7n, 8n]) assert.equal(verdict({ position: 49, wal: { salt, frames: 100 } }), 'loss')
      assert.equal(verdict({ position: 49, epoch: 4, wal: { salt: 0n, frames: 0 } }), 'loss')
    })

    it('is another file if its inode, birth time, epoch or journal differs, unless the WAL shows that it was moved', () => {
      const others = [{ inode: 2n }, { birth: 11n }, { epoch: 2 }, { isWal: false }]
      for (const other of others) {
        assert.equal(verdict({ ...other, position: 49, wal: { salt: 0n, frames: 0 } }), 'restored')
      }
      assert.equal(verdict({ inode: 2n, position: 49 }), 'loss')
    })

    it('ignores the birth time if the file system has none', () => {
      assert.equal(verdict({ birth: 0n, position: 49, wal: { salt: 0n, frames: 0 } }), 'loss')
    })
  })
}
