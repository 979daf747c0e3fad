/** The commands as operators run them: what they refuse, and what a kill in the middle leaves. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import type { DumpEntry, StoreReader } from '@parley/a2a/internal'
import { masterKeyFile, sqliteStore } from '@parley/a2a/stores/sqlite'
import { readDump, writeDump } from '@parley/a2a/stores/dump'
import { openHubSecrets } from '../../packages/hub/src/secrets/hub-secrets.ts'
import { lastBackup, recordSqliteBackup } from '../../packages/hub/src/store/last-backup.ts'
import { fillWithVariedContent } from '../../packages/a2a/src/testing/store-contract/varied-content.ts'
import { createTask, day0 } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { skipReason } from '../postgres/databases.ts'
import { createEmptyDatabase } from './empty-database.ts'
import { runParley, startParley } from './run-parley.ts'

const noDatabase = await skipReason()
const folder = mkdtempSync(join(tmpdir(), 'parley-backup-'))
after(() => rmSync(folder, { recursive: true }))
const data = join(folder, 'data')
const backup = join(folder, 'backup')
const dump = join(folder, 'export')
let places = 0
const place = (): string => join(folder, `place-${(places += 1)}`)

before(async () => {
  const file = join(data, 'parley.db')
  const store = sqliteStore({ file, now: () => day0 })
  masterKeyFile(file)
  await fillWithVariedContent(store)
  await store.close()
  await runParley('backup', '--data', data, backup)
  await runParley('export', '--data', data, dump)
})

async function assertFails(expected: RegExp, ...args: readonly string[]): Promise<void> {
  const { code, stderr } = await startParley(...args).result
  assert.match(stderr, expected)
  assert.equal(code, 1)
}

/** The export of a data directory. */
async function exported(from: string): Promise<string> {
  return (await runParley('export', '--data', from, '-')).stdout
}

describe('parley backup and restore', () => {
  it('restore a store as it was, in a file that only its owner may read', async () => {
    const to = place()
    await runParley('restore', '--data', to, backup)
    assert.equal(await exported(to), readFileSync(dump, 'utf8'))
    assert.equal(statSync(backup).mode & 0o777, 0o600)
    assert.equal(statSync(join(to, 'parley.db')).mode & 0o777, 0o600)
  })

  it('keep the secrets of the hub, sealed', async () => {
    const [from, to, file] = [place(), place(), place()]
    const secretsIn = async (dataDir: string) => {
      const store = sqliteStore({ file: join(dataDir, 'parley.db') })
      const secrets = await openHubSecrets(
        store,
        { warn() {} },
        () => undefined,
        async () => {},
      )
      return { store, secrets }
    }
    const { store, secrets } = await secretsIn(from)
    await secrets.set('gpt', 'sesame-is-the-word', { who: 'ann' })
    await store.close()
    await runParley('backup', '--data', from, file)
    await runParley('restore', '--data', to, file)
    copyFileSync(join(from, 'parley.db.key'), join(to, 'parley.db.key'))
    const restored = await secretsIn(to)
    assert.equal(restored.secrets.values.get('gpt'), 'sesame-is-the-word')
    await restored.store.close()
    assert.doesNotMatch(await exported(from), /sesame/)
  })

  it('tell what a backup is, and check it [full]', async () => {
    const { stdout } = await runParley('restore', '--check', '-o', 'json', backup)
    const { store, keyring, counts } = JSON.parse(stdout) as Record<string, unknown>
    assert.deepEqual({ store, keyring }, { store: 'sqlite', keyring: 'wrapped' })
    assert.equal((counts as Record<string, number>)['task'], 10)
    assert.match(
      (await runParley('restore', '--list', backup)).stdout,
      /wrapped by the master key, which is not in the file/,
    )
  })

  it('record the time of the last backup [full]', async () => {
    const settings = { store: 'sqlite:', dataDir: data }
    const kv = sqliteStore(':memory:').kv
    const { at = 0, bytes, position } = (await lastBackup(settings, { kv })) ?? {}
    assert.ok(at > 0)
    assert.equal(bytes, statSync(backup).size)
    assert.ok(position !== undefined && position > 0)
    assert.equal(await lastBackup({ ...settings, dataDir: place() }, { kv }), undefined)
  })

  it('are complete with a role of PostgreSQL that may only read, and warn [full]', { skip: noDatabase }, async () => {
    const url = await createEmptyDatabase()
    await runParley('import', '--store', url, dump)
    const client = new pg.Client(url)
    await client.connect()
    const role = `reader_${randomBytes(6).toString('hex')}`
    await client.query(`CREATE ROLE ${role} LOGIN IN ROLE pg_read_all_data`)
    const file = join(folder, 'read-only')
    const { code, stdout, stderr } = await startParley('backup', '--store', url.replace('postgres@', `${role}@`), file)
      .result
    await client.query(`DROP ROLE ${role}`)
    await client.end()
    assert.match(stderr, /^The time of the backup was not recorded: permission denied .*The backup is complete/)
    assert.match(stdout, /^Backed up /)
    assert.equal(code, 0)
    const to = place()
    await runParley('restore', '--data', to, file)
    assert.equal(await exported(to), readFileSync(dump, 'utf8'))
  })

  it('carry the master key only if asked to [full]', async () => {
    const full = join(folder, 'full')
    const { stderr } = await runParley('backup', '--data', data, '--keyring', 'full', full)
    assert.match(stderr, /contains the master key/)
    const to = place()
    await runParley('restore', '--data', to, full)
    const key = readFileSync(join(data, 'parley.db.key'), 'utf8').trim()
    assert.equal(readFileSync(join(to, 'parley.db.key'), 'utf8').trim(), key)
    assert.equal(gunzipSync(readFileSync(backup)).includes(key), false)
    assert.equal(gunzipSync(readFileSync(full)).includes(key), true)
    for (const option of ['--list', '--check']) {
      const { stdout } = await runParley('restore', option, '-o', 'json', full)
      assert.ok(stdout.includes('"full"') && !stdout.includes(key))
    }
  })

  it('refuse a master key that did not wrap the keys, unless the keys are left out [full]', async () => {
    const to = place()
    masterKeyFile(join(to, 'parley.db'))
    await assertFails(/wrapped by another master key/, 'restore', '--data', to, backup)
    assert.equal(existsSync(join(to, 'parley.db')), false)
    await runParley('restore', '--data', to, '--omit-keys', backup)
    assert.ok((await exported(to)).includes('"key":0'))
  })

  it('are the lines of an export with a manifest, compressed', () => {
    const [header = '', ...lines] = gunzipSync(readFileSync(backup)).toString().split('\n')
    const [exportHeader = '', ...exportLines] = readFileSync(dump, 'utf8').split('\n')
    assert.deepEqual(lines.slice(0, -2), exportLines.slice(0, -2))
    const { program: _, createdAt: __, masterKeyCheck: ___, ...about } = JSON.parse(header) as Record<string, unknown>
    const manifest = {
      ...(JSON.parse(exportHeader) as object),
      store: 'sqlite',
      schemaVersion: 100,
      keyring: 'wrapped',
    }
    assert.deepEqual(about, manifest)
  })

  it('are not mixed up with export and import', async () => {
    await assertFails(/is an export, not a backup: load it with parley import/, 'restore', '--data', place(), dump)
    await assertFails(/is an export, not a backup/, 'restore', '--check', dump)
    await assertFails(/is a backup: load it with parley restore/, 'import', '--data', place(), backup)
  })

  it('are files: a backup to the standard output is refused [full]', async () => {
    const { code, stderr } = await startParley('backup', '--data', data, '-').result
    assert.match(stderr, /A backup is a file/)
    assert.equal(code, 2)
  })

  it('overwrite nothing [full]', async () => {
    await assertFails(/exists already/, 'backup', '--data', data, backup)
    await assertFails(/is not empty/, 'restore', '--data', data, backup)
    await assertFails(/is not empty/, 'import', '--data', data, dump)
  })

  it('refuse a store that a hub has open, and back it up nevertheless [full]', async () => {
    const to = place()
    const store = sqliteStore(join(to, 'parley.db'))
    await createTask(store, { id: 'live' })
    await assertFails(/is in use by another store/, 'restore', '--data', to, backup)
    const online = join(folder, 'online')
    await runParley('backup', '--data', to, online)
    await store.close()
    assert.match((await runParley('restore', '--check', online)).stdout, /1 task with 1 append/)
  })

  it('reset the high-water mark of an earlier database [full]', async () => {
    const to = place()
    const earlier = sqliteStore(join(to, 'parley.db'))
    for (let n = 0; n < 100; n += 1) await createTask(earlier)
    await earlier.close()
    rmSync(join(to, 'parley.db'))
    assert.throws(() => sqliteStore(join(to, 'parley.db')), /is empty but had/)
    await runParley('restore', '--data', to, backup)
    await sqliteStore(join(to, 'parley.db')).close()
  })
})

describe('the record of the last backup of an earlier database [full]', () => {
  const kv = sqliteStore(':memory:').kv
  for (const [command, source] of [
    ['restore', backup],
    ['import', dump],
  ] as const) {
    it(`is removed by parley ${command}, and stays if the file is refused`, async () => {
      const to = place()
      const settings = { store: 'sqlite:', dataDir: to }
      await sqliteStore(join(to, 'parley.db')).close()
      await recordSqliteBackup(settings, { at: 1, bytes: 2, position: 3 })
      rmSync(join(to, 'parley.db'))
      const damaged = join(folder, `damaged-${(places += 1)}`)
      writeFileSync(damaged, readFileSync(source).subarray(0, -40))
      await assertFails(/incomplete/, command, '--data', to, damaged)
      assert.equal((await lastBackup(settings, { kv }))?.at, 1)
      await runParley(command, '--data', to, source)
      assert.equal(await lastBackup(settings, { kv }), undefined)
    })
  }
})

describe('a damaged file [full]', () => {
  const damages: readonly (readonly [name: string, expected: RegExp, change: (bytes: Buffer) => Buffer])[] = [
    ['cut off', /incomplete/, (bytes) => bytes.subarray(0, -40)],
    ['cut off in the middle', /incomplete/, (bytes) => bytes.subarray(0, bytes.length / 2)],
    ['empty', /incomplete/, () => Buffer.alloc(0)],
    ['with a flipped bit', /damaged|changed|invalid/, (bytes) => flipped(bytes, Math.floor(bytes.length / 2))],
    ['with a flipped bit at its start', /damaged|does not name the format/, (bytes) => flipped(bytes, 2)],
    ['with a flipped bit at its end', /damaged|changed/, (bytes) => flipped(bytes, bytes.length - 6)],
    ['with bytes after its end', /follow|damaged/, (bytes) => Buffer.concat([bytes, Buffer.from('{}\n')])],
  ]
  for (const [name, expected, change] of damages) {
    it(`that is ${name} is refused, and leaves no store`, async () => {
      for (const [command, source] of [
        ['restore', backup],
        ['import', dump],
      ] as const) {
        const file = join(folder, `damaged-${(places += 1)}`)
        writeFileSync(file, change(readFileSync(source)))
        const to = place()
        await assertFails(expected, command, '--data', to, file)
        assert.deepEqual(filesOf(to), [])
      }
    })
  }

  it('of a newer version is refused', async () => {
    const file = join(folder, 'newer')
    writeFileSync(file, readFileSync(dump, 'utf8').replace('"version":1', '"version":2'))
    await assertFails(/version 2 of the format; this program reads version 1/, 'import', '--data', place(), file)
  })
})

describe('a backup whose checksums are correct and whose content contradicts itself', () => {
  interface Change {
    readonly entry?: (entry: DumpEntry) => DumpEntry
    readonly position?: number
    readonly masterKey?: Uint8Array
  }

  /** The backup, written again with other content. */
  async function forge({ entry = (same) => same, position, masterKey }: Change): Promise<string> {
    const all: DumpEntry[] = []
    const read = await readDump(createReadStream(backup), { load: async (more) => void all.push(...more) })
    const reader = {
      ...{ kind: 'sqlite', schemaVersion: 100, position: position ?? read.position },
      async *entries() {
        yield* all.map(entry)
      },
    }
    const about = { program: 'test', createdAt: day0, ...(masterKey && { masterKey, keyring: 'full' as const }) }
    const file = join(folder, `forged-${(places += 1)}`)
    const pieces = writeDump(reader as unknown as StoreReader, { backup: about })
    writeFileSync(file, Buffer.concat(await Array.fromAsync(pieces)))
    return file
  }

  it('is not restored, and leaves no store: heads, positions, digests and the master key are checked', async () => {
    let isFirst = true
    const varied = { id: 'push.7', purpose: 'push' }
    const once = (type: DumpEntry['type'], change: (entry: any) => object) => (entry: DumpEntry) => {
      if (entry.type !== type || !isFirst) return entry
      isFirst = false
      return { ...entry, ...change(entry) } as DumpEntry
    }
    const changes: readonly (readonly [expected: RegExp, change: Change])[] = [
      [/log ends at \d+; the row of the task says/, { entry: once('task', ({ head }) => ({ head: head + 1 })) }],
      [/An append has position \d+, and the backup ends at 1/, { position: 1 }],
      [/The content of the blob .* was changed/, { entry: once('blob', () => ({ content: Buffer.from('other') })) }],
      // A keyring reads only keys with such ids.
      [/The key push\.7 .* master key/, { entry: once('key', () => varied), masterKey: randomBytes(32) }],
    ]
    for (const [expected, change] of changes) {
      isFirst = true
      const file = await forge(change)
      const to = place()
      await assertFails(expected, 'restore', '--data', to, file)
      assert.deepEqual(filesOf(to), [])
      await assertFails(expected, 'restore', '--check', file)
    }
  })

  it('is restored on request, with what is wrong', async () => {
    const to = place()
    const { stdout, stderr } = await runParley(
      ...['restore', '--accept-findings', '--data', to, await forge({ position: 1 })],
    )
    assert.match(stdout, /^Restored /)
    assert.match(stderr, /An append has position \d+, and the backup ends at 1/)
  })
})

describe('a killed command [full]', () => {
  for (const [command, source] of [
    ['import', dump],
    ['restore', backup],
  ] as const) {
    it(`leaves a store that a hub refuses, and the next ${command} completes`, async () => {
      const to = place()
      const { child, result } = startParley(command, '--data', to, '-')
      const bytes = readFileSync(source)
      // The command waits for the rest.
      child.stdin?.write(bytes.subarray(0, bytes.length / 2))
      await eventually(() => existsSync(join(to, 'parley.db.partial')))
      child.kill('SIGKILL')
      await result
      assert.throws(() => sqliteStore(join(to, 'parley.db')), /was interrupted. Run the restore or import again/)
      await runParley(command, '--data', to, source)
      assert.equal(await exported(to), readFileSync(dump, 'utf8'))
      await sqliteStore(join(to, 'parley.db')).close()
    })
  }

  it('leaves an empty database in PostgreSQL, and the next import completes', { skip: noDatabase }, async () => {
    const url = await createEmptyDatabase()
    const client = new pg.Client(url)
    await client.connect()
    const open = `SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = relation
      WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND relname = 'tasks' AND mode = 'ShareRowExclusiveLock' AND granted`
    const isLoading = async (): Promise<boolean> => (await client.query(open)).rowCount !== 0
    const { child, result } = startParley('import', '--store', url, '-')
    const bytes = readFileSync(dump)
    child.stdin?.write(bytes.subarray(0, bytes.length / 2))
    await eventually(isLoading, 'the restore to load')
    child.kill('SIGKILL')
    await result
    // The server notices the lost connection and undoes the transaction.
    await eventually(async () => !(await isLoading()), 'the load to end')
    assert.equal((await client.query('SELECT FROM parley.tasks')).rowCount, 0)
    await client.end()
    await runParley('import', '--store', url, dump)
    assert.equal((await runParley('export', '--store', url, '-')).stdout, bytes.toString())
  })

  it('removes what it has written if it is interrupted by Ctrl-C', async () => {
    const to = place()
    const { child, result } = startParley('import', '--data', to, '-')
    const lines = readFileSync(dump)
    child.stdin?.write(lines.subarray(0, lines.length / 2))
    await eventually(() => existsSync(join(to, 'parley.db.partial')))
    child.kill('SIGINT')
    child.stdin?.end(lines.subarray(lines.length / 2))
    const { code, stderr } = await result
    assert.match(stderr, /Interrupted/)
    assert.equal(code, 1)
    assert.deepEqual(filesOf(to), [])
  })
})

/** Without the lock and the .gitignore, which have no data. */
function filesOf(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => !name.includes('.lock') && name !== '.gitignore')
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}
