import assert from 'node:assert/strict'
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createTask } from '../../testing/store-contract/harness.ts'
import { eventually } from '../../testing/fixtures/eventually.ts'
import { sqliteStore } from './sqlite-store.ts'
import { openWalSync } from './wal/wal-sync.ts'

/** Syncs that end when the test ends them. */
function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-wal-sync-'))
  const path = join(folder, 'tasks.db')
  writeFileSync(`${path}-wal`, '')
  const running: ((error: Error | null) => void)[] = []
  const events: string[] = []
  let frames = 0
  const sync = openWalSync({
    path,
    wal: { read: () => ({ salt: 1n, frames }), close() {} },
    onSynced: ({ position, wal }) => void events.push(`synced ${position} (${wal.frames} frames)`),
    sync: (_, callback) => {
      events.push('sync begins')
      running.push(callback)
    },
  })
  t.after(async () => {
    running.splice(0).forEach((end) => end(null))
    await sync.close()
    rmSync(folder, { recursive: true })
  })
  return {
    sync,
    events,
    commit(position: number): void {
      frames += 1
      sync.committed(position, 0)
    },
    write(name: string): void {
      sync.whenDurable((failure) =>
        events.push(failure === undefined ? `${name} is durable` : `${name}: ${failure.message}`),
      )
    },
    end: (error: Error | null = null): void => running.shift()?.(error),
  }
}

describe('the sync of the write-ahead log', () => {
  it('resolves a write when the sync that began after its commit has ended', (t) => {
    const { commit, write, end, events } = setUp(t)
    commit(1)
    write('a')
    assert.deepEqual(events, ['sync begins'])
    end()
    assert.deepEqual(events, ['sync begins', 'synced 1 (1 frames)', 'a is durable'])
  })

  it('lets commits made during a sync share the next one, which begins before their predecessors continue', (t) => {
    const { commit, write, end, events } = setUp(t)
    commit(1)
    write('a')
    commit(2)
    write('b')
    commit(3)
    write('c')
    end()
    assert.deepEqual(events, ['sync begins', 'synced 1 (1 frames)', 'sync begins', 'a is durable'])
    end()
    assert.deepEqual(events.slice(4), ['synced 3 (3 frames)', 'b is durable', 'c is durable'])
  })

  it('makes a reader wait for all commits so far, and for nothing if they are on disk', async (t) => {
    const { sync, commit, end, events } = setUp(t)
    assert.equal(sync.pending(), undefined)
    commit(1)
    commit(2)
    const read = sync.pending()?.then(() => events.push('read'))
    end()
    assert.ok(!events.includes('read'))
    end()
    await read
    assert.equal(events.at(-1), 'read')
    assert.equal(sync.pending(), undefined)
  })

  it('fails every write since a sync that failed, and all later ones', async (t) => {
    const { sync, commit, write, end, events } = setUp(t)
    commit(1)
    write('a')
    commit(2)
    write('b')
    end(new Error('EIO'))
    commit(3)
    write('c')
    const message = 'syncing the write-ahead log failed: EIO. Check the disk, then restart'
    assert.deepEqual(events, ['sync begins', `a: ${message}`, `b: ${message}`, `c: ${message}`])
    assert.equal(sync.failure()?.message, message)
    await assert.rejects(sync.pending() ?? Promise.resolve(), { message })
  })

  it('drains: waits for the sync that runs and for the one after it', async (t) => {
    const { sync, commit, write, end, events } = setUp(t)
    await sync.drain()
    commit(1)
    commit(2)
    write('a')
    const drained = sync.drain().then(() => events.push('drained'))
    end()
    end()
    await drained
    assert.deepEqual(events.slice(-2), ['a is durable', 'drained'])
  })
})

describe('a SQLite store with full durability', () => {
  it('acknowledges a write, and returns it to readers, only when it is on disk', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-wal-sync-'))
    const held = new Set<() => void>()
    let isHolding = false
    const { fdatasync } = fs
    const hold = t.mock.method(fs, 'fdatasync', ((handle: number, callback: (error: Error | null) => void) => {
      if (isHolding) held.add(() => fdatasync(handle, callback))
      else fdatasync(handle, callback)
    }) as typeof fdatasync)
    syncBuiltinESMExports()
    const store = sqliteStore(join(folder, 'tasks.db'))
    hold.mock.restore()
    syncBuiltinESMExports()
    const release = (): void => {
      isHolding = false
      for (const sync of held) sync()
      held.clear()
    }
    t.after(async () => {
      release()
      await store.close()
      rmSync(folder, { recursive: true })
    })

    const order: string[] = []
    await createTask(store)
    const start = await store.feed.end()
    await store.feed.read(start, 10)
    isHolding = true
    const written = createTask(store).then(() => order.push('written'))
    await eventually(() => held.size > 0)
    const read = store.feed.read(start, 10).then(({ length }) => order.push(`read ${length}`))
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
    assert.deepEqual(order, [])
    release()
    await Promise.all([written, read])
    assert.deepEqual(new Set(order), new Set(['read 1', 'written']))
  })

  it('is not copied into the database file on close after a sync failed, and is checked at the next start', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-wal-sync-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'tasks.db')
    const { fdatasync } = fs
    let hasFailed = false
    const broken = t.mock.method(fs, 'fdatasync', ((handle: number, callback: (error: Error | null) => void) => {
      if (hasFailed) callback(new Error('EIO'))
      else fdatasync(handle, callback)
    }) as typeof fdatasync)
    syncBuiltinESMExports()
    const store = sqliteStore(file)
    broken.mock.restore()
    syncBuiltinESMExports()
    await createTask(store)
    hasFailed = true
    await assert.rejects(createTask(store), /syncing the write-ahead log failed: EIO/)
    await assert.rejects(store.feed.end(), /EIO/)
    await assert.rejects(async () => store.ready?.(), /EIO/)
    await store.close()
    assert.ok(fs.statSync(`${file}-wal`).size > 0)
    const infos: string[] = []
    const next = sqliteStore({ file, log: { warn() {}, info: (message) => void infos.push(message) } })
    await next.close()
    assert.ok(infos.some((message) => message.includes('checked after an unclean shutdown')))
  })
})
