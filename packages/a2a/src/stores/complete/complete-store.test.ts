/** What the contract suites do not show: log stores that fail, that two processes open, and that are instances of a class. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRow, LogStore, LogWrite } from '../log-store.ts'
import { memoryKeyValueStore } from '../memory/key-value.ts'
import { createMemoryLog } from '../memory/memory-log.ts'
import { assertAppended, chunks, createTask, noteRecords, recordTexts } from '../../testing/store-contract/harness.ts'
import { completeLogStore, completeStore, missingFeatures } from './complete-store.ts'

const openLog = (): LogStore => createMemoryLog({ maxTasks: Infinity, pruneBatch: 1 }).store
const take = (holder: string) => ({ take: { holder, ttlMs: Infinity } })

describe('a log store that a second process opens', () => {
  it('gives it the unfinished tasks, and the first process can no longer write them', async () => {
    const log = openLog()
    const first = completeLogStore(log).store
    const { id } = await createTask(first)
    const { fence } = await assertAppended(first, id, { expectedSeq: 1, records: chunks('a'), ...take('one') })
    const second = completeLogStore(log).store
    const [orphan] = await second.tasks.claimOrphans('two', Date.now(), Infinity, 10)
    assert.equal(orphan?.task.id, id)
    await assertAppended(second, id, { expectedSeq: 2, fence: orphan.fence, records: chunks('b') })
    const late = { expectedSeq: 2, fence: fence as number, records: chunks('late') }
    assert.deepEqual(await first.tasks.append(id, late), { outcome: 'fenced' })
    // A message still arrives, after the records of the owner.
    const message = { expectedSeq: 2, records: noteRecords('message'), orLater: true } as const
    assert.deepEqual(await first.tasks.append(id, message), { outcome: 'appended', head: 4 })
    const conflict = { expectedSeq: 3, fence: orphan.fence, records: chunks('c') }
    assert.deepEqual(await second.tasks.append(id, conflict), { outcome: 'conflict', head: 4 })
    assert.deepEqual(recordTexts(await second.tasks.read(id, 1)), ['a', 'b', 'message'])
  })

  it('keeps the keys that both create', async () => {
    const log = openLog()
    const key = (id: string) => ({ id, purpose: 'page-token', material: id, createdAt: 1 })
    await Promise.all(
      [completeLogStore(log), completeLogStore(log)].map(({ store }, n) => store.keys.save(key(`${n}`))),
    )
    assert.deepEqual(
      (await completeLogStore(log).store.keys.list()).map(({ id }) => id),
      ['0', '1'],
    )
  })
})

describe('a log store that fails', () => {
  /** Fails the next write, before or after it was done. */
  function failing() {
    const log = openLog()
    let fault: 'before' | 'after' | undefined
    const append = async (write: LogWrite): Promise<boolean> => {
      const now = fault
      fault = undefined
      if (now === 'before') throw new Error('connection lost')
      const isWritten = await log.append(write)
      if (now === 'after') throw new Error('connection lost')
      return isWritten
    }
    return { log: { ...log, append }, fail: (when: 'before' | 'after') => (fault = when) }
  }

  for (const when of ['before', 'after'] as const)
    it(`is read again when the outcome of a write is unknown: it failed ${when} it was done`, async () => {
      const { log, fail } = failing()
      const { store } = completeLogStore(log)
      const { id } = await createTask(store)
      fail(when)
      const append = { expectedSeq: 1, records: chunks('a'), ...take('one') }
      await assert.rejects(store.tasks.append(id, append), /connection lost/)
      const head = when === 'before' ? 1 : 2
      assert.equal((await store.tasks.load(id))?.head, head)
      // The same holder takes its lease again, under a new fence.
      const { fence } = await assertAppended(store, id, { expectedSeq: head, records: [], ...take('one') })
      await assertAppended(store, id, { expectedSeq: head, fence: fence as number, records: chunks('b') })
      assert.deepEqual(recordTexts(await store.tasks.read(id, 1)), when === 'before' ? ['b'] : ['a', 'b'])
    })

  it('is opened again by the next call', async () => {
    const log = openLog()
    let isDown = true
    const list: LogStore['list'] = async (query) => {
      if (isDown) throw new Error('no connection')
      return log.list(query)
    }
    const { store } = completeLogStore({ ...log, list })
    await assert.rejects(store.tasks.load('a'), /no connection/)
    isDown = false
    assert.equal(await store.tasks.load('a'), undefined)
  })
})

describe('a log store', () => {
  it('may be an instance of a class', async () => {
    class OwnStore implements LogStore {
      readonly #log = openLog()
      append = (write: LogWrite): Promise<boolean> => this.#log.append(write)
      load(id: string): Promise<LogRow | undefined> {
        return this.#log.load(id)
      }
      read(...given: Parameters<LogStore['read']>): ReturnType<LogStore['read']> {
        return this.#log.read(...given)
      }
      list(...given: Parameters<LogStore['list']>): ReturnType<LogStore['list']> {
        return this.#log.list(...given)
      }
      findMessage(key: string): Promise<string | undefined> {
        return this.#log.findMessage(key)
      }
    }
    const { id } = await createTask(completeStore(new OwnStore()), {})
    assert.equal(typeof id, 'string')
  })

  it('is completed once, and a whole store is itself', () => {
    const log = openLog()
    const store = completeStore(log)
    assert.equal(completeStore(log), store)
    assert.equal(completeStore(store), store)
  })

  it('lacks what it has no member for', () => {
    const { remove: _, ...withoutRemove } = openLog()
    assert.match(missingFeatures(withoutRemove) ?? '', /retention/)
    assert.doesNotMatch(missingFeatures(openLog()) ?? '', /retention|snapshots|feed/)
  })

  it('deletes expired entries of its `kv` when it is pruned', async () => {
    let removals = 0
    const kv = { ...memoryKeyValueStore(), removeExpired: async () => void (removals += 1) }
    await completeStore({ ...openLog(), kv }).prune({ batch: 1 })
    assert.equal(removals, 1)
  })

  it('gets message keys that fit into an index, whatever the caller chose', async () => {
    const keys: (string | undefined)[] = []
    const log = openLog()
    const append: LogStore['append'] = async (write) => (keys.push(write.messageKey), log.append(write))
    const { store } = completeLogStore({ ...log, append })
    const chosen = ['short', 'x'.repeat(5_000), 'NUL \u0000', `sha256:${'a'.repeat(64)}`]
    for (const key of chosen) await createTask(store, {}, { idempotency: { key, hash: key, ttlMs: 60_000 } })
    for (const [n, key] of chosen.entries()) {
      assert.ok((keys[n] ?? '').length <= 300 && !keys[n]?.includes('\0'), keys[n])
      assert.equal((await store.tasks.findMessage(key, Date.now()))?.hash, key)
    }
  })
})
