import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { assertAppended, chunks, createTask } from '../../testing/store-contract/harness.ts'
import { type MigrationStep, newestVersion } from '../migration-step.ts'
import { openSqliteDatabase } from './database.ts'
import { sqliteStore } from './index.ts'
import { migrateSqlite, migrationSteps } from './migrate.ts'

/** This file is also the program of the child, which opens the given store and stays alive. */
const holdFlag = '--hold-store'
const toHold = process.argv.indexOf(holdFlag)
if (toHold > 0) {
  sqliteStore(process.argv[toHold + 1] as string)
  process.stdout.write('open\n')
  setInterval(() => {}, 60_000)
} else describeOpening()

async function holdInAnotherProcess(file: string) {
  const child = spawn(process.execPath, ['--conditions=parley-source', import.meta.filename, holdFlag, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return {
    async kill(): Promise<void> {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

function describeOpening(): void {
  describe('opening a SQLite store', () => {
    let directory = ''
    let file = ''
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'parley-'))
      file = join(directory, 'tasks.db')
    })
    afterEach(() => rm(directory, { recursive: true }))

    it('creates the directory, for its owner only', async () => {
      const store = sqliteStore(join(directory, 'a', 'b', 'tasks.db'))
      await store.close()
      assert.equal((await stat(join(directory, 'a', 'b'))).mode & 0o777, 0o700)
    })

    it('keeps a directory that it creates out of git, and changes no other', async () => {
      await sqliteStore(join(directory, 'a', 'b', 'tasks.db')).close()
      assert.equal(await readFile(join(directory, 'a', 'b', '.gitignore'), 'utf8'), '*\n')
      assert.deepEqual(await readdir(join(directory, 'a')), ['b'])
      await sqliteStore(file).close()
      assert.equal(existsSync(join(directory, '.gitignore')), false)
    })

    it('reports a directory that it cannot create or write in one sentence', async () => {
      const inTheWay = join(directory, 'in-the-way')
      await writeFile(inTheWay, '')
      for (const path of [join(inTheWay, 'tasks.db'), join(inTheWay, 'a', 'b', 'tasks.db')])
        assert.throws(() => sqliteStore(path), {
          message: `${inTheWay} is a file, not a directory: choose another directory.`,
        })
      const tooLong = 'x'.repeat(300)
      assert.throws(
        () => sqliteStore(join(directory, tooLong, 'tasks.db')),
        /^Error: The directory \S+ cannot be created \(ENAMETOOLONG: name too long\): choose another directory, or change/,
      )
      assert.throws(
        () => sqliteStore(directory),
        /^Error: The store \S+ cannot be opened \(unable to open database file\): choose another directory, or change/,
      )
    })

    const skip = existsSync('/proc/self') ? false : 'there is no /proc'
    it('reports a directory that refuses every name, where the recursive mkdir of Node never ends', { skip }, () => {
      assert.throws(
        () => sqliteStore('/proc/parley/tasks.db'),
        /^Error: The directory \/proc\/parley cannot be created \(ENOENT/,
      )
      assert.throws(
        () => sqliteStore('/proc/tasks.db'),
        /^Error: The store \/proc\/tasks\.db cannot be opened \(ENOENT: [^)]+\): choose another directory/,
      )
    })

    const isRoot = process.getuid?.() === 0
    it('reports a directory that this user may not write to', { skip: isRoot && 'root may' }, async () => {
      await chmod(directory, 0o500)
      assert.throws(() => sqliteStore(file), /tasks\.db cannot be opened \(EACCES: permission denied\): choose another/)
      await chmod(directory, 0o700)
    })

    it('works in memory, separately for each store', async () => {
      const [one, two] = [sqliteStore(':memory:'), sqliteStore(':memory:')]
      const { id } = await createTask(one)
      assert.notEqual(await one.tasks.load(id), undefined)
      assert.equal(await two.tasks.load(id), undefined)
      await Promise.all([one.close(), two.close()])
    })

    it('gives leases for the lifetime of the process', async () => {
      const store = sqliteStore(':memory:')
      assert.equal(store.leaseTtlMs, Infinity)
      await store.close()
    })

    it('is refused at once while the file is open in this process, under any name', async () => {
      const first = sqliteStore(file)
      await symlink(file, join(directory, 'alias.db'))
      for (const name of [file, join(directory, 'alias.db')]) {
        assert.throws(
          () => sqliteStore(name),
          (error: Error) => {
            assert.match(
              error.message,
              /tasks\.db is in use by another store, .*\. Close that one, or choose another file\.$/,
            )
            assert.deepEqual({ ...error }, { code: 'STORE_IN_USE', path: file })
            return error.cause === undefined
          },
        )
      }
      const { id } = await createTask(first)
      await first.close()
      const second = sqliteStore(file)
      assert.notEqual(await second.tasks.load(id), undefined)
      await second.close()
    })

    it('is refused while the file is open in another process, and works once that was killed', async () => {
      const other = await holdInAnotherProcess(file)
      try {
        assert.throws(() => sqliteStore(file), /is in use by another store/)
      } finally {
        await other.kill()
      }
      const store = sqliteStore(file)
      await createTask(store)
      await store.close()
    })

    it('lets others read the file, for a backup', async () => {
      const store = sqliteStore(file)
      await createTask(store)
      const reader = openSqliteDatabase(file, 0)
      assert.equal(reader.prepare<{ n: number }>('SELECT count(*) AS n FROM tasks').get()?.n, 1)
      reader.close()
      await store.close()
    })

    it('fences an earlier opener, if the lock was bypassed', async () => {
      const store = sqliteStore(file)
      const { id } = await createTask(store)
      const intruder = openSqliteDatabase(file, 0)
      intruder.exec('UPDATE engine SET epoch = epoch + 1')
      intruder.close()
      await assert.rejects(store.tasks.append(id, { expectedSeq: 1, records: chunks('x') }), /has opened the database/)
      assert.equal((await store.tasks.read(id, 0)).length, 1)
      await store.close()
    })

    const newest = newestVersion(migrationSteps)
    const migrateTo = (next: Omit<MigrationStep, 'version'>): void => {
      const database = openSqliteDatabase(file, 0)
      try {
        migrateSqlite(database, 0, [...migrationSteps, { version: newest + 1, ...next }])
      } finally {
        database.close()
      }
    }

    it('migrates a file of the previous version once and keeps its content', async () => {
      const store = sqliteStore(file)
      const { id } = await createTask(store)
      await store.close()
      const sql = 'ALTER TABLE tasks ADD COLUMN shape TEXT; UPDATE tasks SET shape = id'
      for (let start = 0; start < 2; start += 1) migrateTo({ sql, minReader: newest })
      const database = openSqliteDatabase(file, 0)
      assert.equal(database.prepare<{ shape: string }>('SELECT shape FROM tasks').get()?.shape, id)
      const versions = database
        .prepare<{ version: number }>('SELECT version FROM schema_version ORDER BY version')
        .all()
      assert.deepEqual(
        versions.map(({ version }) => version),
        [...migrationSteps.map(({ version }) => version), newest + 1],
      )
      database.close()
    })

    it('is unchanged when a migration step fails', async () => {
      await sqliteStore(file).close()
      assert.throws(
        () => migrateTo({ sql: 'CREATE TABLE half (a INTEGER) STRICT; SELECT no_such_function()', minReader: newest }),
        /no_such_function/,
      )
      const database = openSqliteDatabase(file, 0)
      assert.equal(database.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'half'`).get(), undefined)
      database.close()
      await sqliteStore(file).close()
    })

    it('refuses a file that a newer version has made unusable for this one, with a message', async () => {
      await sqliteStore(file).close()
      migrateTo({ sql: 'SELECT 1', minReader: newest + 1 })
      const message = `tasks.db was migrated by a newer version: its schema is ${newest + 1}, which requires a program that knows schema ${newest + 1}; this one knows ${newest}.`
      assert.throws(() => sqliteStore(file), new RegExp(message.replaceAll('.', '\\.')))
    })

    it('opens the schema of the next version if that allows it, writes to it, and the next version continues', async () => {
      const store = sqliteStore(file)
      const { id } = await createTask(store)
      await store.close()
      const next = {
        sql: `ALTER TABLE log ADD COLUMN colour TEXT NOT NULL DEFAULT 'none'; ALTER TABLE tasks ADD COLUMN shape TEXT;
          CREATE TABLE shapes (name TEXT) STRICT`,
        minReader: newest,
      }
      migrateTo(next)
      const older = sqliteStore(file)
      await assertAppended(older, id, { expectedSeq: 1, records: chunks('a') })
      const { id: second } = await createTask(older)
      await older.tasks.saveSnapshot(id, {
        seq: 2,
        task: { id, status: { state: 'TASK_STATE_WORKING' } },
        internal: {},
      })
      assert.equal((await older.tasks.read(id, 0)).length, 2)
      assert.equal((await older.tasks.search({ limit: 9 })).tasks.length, 2)
      await older.close()
      migrateTo(next)
      const again = sqliteStore(file)
      assert.equal((await again.tasks.load(second))?.head, 1)
      await again.close()
    })

    it('refuses the database of another program, and does not change it', async () => {
      const foreign = openSqliteDatabase(file, 0)
      foreign.exec('CREATE TABLE theirs (x)')
      foreign.close()
      assert.throws(() => sqliteStore(file), /is a database of another program/)
      const again = openSqliteDatabase(file, 0)
      const mode = again.prepare<{ journal_mode: string }>('PRAGMA journal_mode').get()?.journal_mode
      const tables = again.prepare<{ name: string }>('SELECT name FROM sqlite_schema').all()
      again.close()
      assert.equal(mode, 'delete')
      assert.deepEqual(
        tables.map(({ name }) => name),
        ['theirs'],
      )
    })

    it('refuses a file that is not a database', async () => {
      await writeFile(file, 'A text that is longer than the hundred bytes with which a database begins. '.repeat(20))
      assert.throws(() => sqliteStore(file), {
        message: `The store ${file} cannot be opened (file is not a database): choose another file.`,
      })
    })
  })
}
