import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { sqliteStore } from './index.ts'
import { existingMasterKeys, masterKeyFile } from './master-key.ts'

describe('the master key beside a database', () => {
  let directory = ''
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parley-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  it('is created once, in a file for its owner only, and then read', async () => {
    const database = join(directory, 'data', 'tasks.db')
    const key = masterKeyFile(database)
    assert.equal(key.length, 32)
    assert.deepEqual(masterKeyFile(database), key)
    assert.equal((await stat(`${database}.key`)).mode & 0o777, 0o600)
    assert.equal((await stat(join(directory, 'data'))).mode & 0o777, 0o700)
    assert.deepEqual(await readdir(join(directory, 'data')), ['.gitignore', 'tasks.db.key'])
    assert.notEqual((await readFile(`${database}.key`, 'utf8')).trim(), '')
  })

  it('differs from database to database', () => {
    assert.notDeepEqual(masterKeyFile(join(directory, 'a.db')), masterKeyFile(join(directory, 'b.db')))
    assert.notDeepEqual(masterKeyFile(':memory:'), masterKeyFile(':memory:'))
  })

  it('is reported with its path and the remedy if it cannot be read', async () => {
    const database = join(directory, 'tasks.db')
    // As root, no file is unreadable by its mode.
    await symlink('tasks.db.key', `${database}.key`)
    const message =
      /^Error: The master key \S+tasks\.db\.key cannot be read \(ELOOP: [^)]+\): run this as the user who owns it\.$/
    assert.throws(() => existingMasterKeys(database), message)
  })

  it('is made private if other users may read it', async () => {
    const database = join(directory, 'tasks.db')
    const key = masterKeyFile(database)
    await chmod(`${database}.key`, 0o640)
    assert.deepEqual(masterKeyFile(database), key)
    assert.equal((await stat(`${database}.key`)).mode & 0o777, 0o600)
  })

  it('is not replaced when it was lost and the database has keys that it wraps', async () => {
    const file = join(directory, 'tasks.db')
    const store = sqliteStore(file)
    store.keys.masterKey?.()
    await store.keys.save({ id: 'cursor.1', purpose: 'cursor', material: 'aes-gcm.x.y', createdAt: 1 })
    await store.close()
    await rm(`${file}.key`)
    const again = sqliteStore(file)
    assert.throws(() => again.keys.masterKey?.(), /tasks\.db\.key is missing.*Restore the file/)
    assert.ok(!(await readdir(directory)).includes('tasks.db.key'))
    await again.close()
  })

  it('is replaced by the next one, which is the same until then', async () => {
    const file = join(directory, 'tasks.db')
    const store = sqliteStore(file)
    const { keys } = store
    const old = keys.masterKey?.()
    const next = await keys.createMasterKey?.()
    assert.notDeepEqual(next, old)
    assert.deepEqual(await keys.createMasterKey?.(), next)
    assert.deepEqual([keys.masterKey?.(), keys.otherMasterKeys?.()], [old, [next]])
    assert.equal((await stat(`${file}.key.next`)).mode & 0o777, 0o600)
    await keys.adoptMasterKey?.(next as Uint8Array)
    assert.deepEqual([keys.masterKey?.(), keys.otherMasterKeys?.()], [next, []])
    assert.ok(!(await readdir(directory)).includes('tasks.db.key.next'))
    assert.deepEqual(masterKeyFile(file), next)
    await store.close()
  })

  it('is refused if it is not a key', async () => {
    const database = join(directory, 'tasks.db')
    await writeFile(`${database}.key`, 'too short', { mode: 0o600 })
    assert.throws(() => masterKeyFile(database), /does not contain a 32-byte key/)
  })
})
