/** Erasure: removes tasks in any state and key-value entries, whole, and spares everything of other owners. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StoreWithErasure, OpenStore } from './harness.ts'
import {
  alicePartition,
  assertAppended,
  bobPartition,
  chunk,
  chunks,
  createFinished,
  createTask,
  newPushRow,
  withStore,
} from './harness.ts'

const blob = (byte: number) => chunk({ raw: Buffer.alloc(100_000, byte).toString('base64') })

async function addEverything(store: StoreWithErasure, id: string, records = [blob(1)]): Promise<void> {
  await assertAppended(store, id, { expectedSeq: 1, records })
  const status = { state: 'TASK_STATE_COMPLETED' } as const
  await store.tasks.saveSnapshot(id, { seq: 2, task: { id, status }, internal: {} })
  await store.push.save(newPushRow(id))
  const attempt = { pushId: 'hook', seq: 1, at: 1, attempt: 1, outcome: 'ok', durationMs: 1 }
  await store.push.recordAttempt({ taskId: id, ...attempt })
}

export function erasureContract(open: OpenStore<StoreWithErasure>): void {
  describe('erasing tasks', () => {
    it(
      'removes tasks in any state with all their data, and nothing of other owners',
      withStore(open, async ({ store }) => {
        const finished = await createFinished(store)
        const working = await createTask(store, { state: 'TASK_STATE_WORKING' })
        const other = await createFinished(store, bobPartition)
        for (const { id } of [finished, working]) await addEverything(store, id)
        await addEverything(store, other.id)
        const counts = await store.erasure.erase({ taskIds: [finished.id, working.id, 'unknown'] })
        assert.equal(counts.tasks, 2)
        assert.equal(counts.logBatches, 4)
        assert.equal(counts.snapshots, 2)
        assert.equal(counts.pushConfigs, 2)
        assert.equal(counts.pushAttempts, 2)
        for (const { id } of [finished, working]) {
          assert.equal(await store.tasks.load(id), undefined)
          assert.deepEqual(await store.tasks.read(id, 0), [])
          assert.equal(await store.tasks.loadSnapshot(id), undefined)
          assert.deepEqual(await store.push.list(id), [])
          assert.deepEqual(await store.push.listAttempts(id, 'hook', 10), [])
        }
        assert.equal((await store.tasks.list({ ...alicePartition, limit: 10 })).total, 0)
        assert.equal(await store.tasks.countActive('acme', 'alice'), 0)
        assert.deepEqual((await store.tasks.read(other.id, 1))[0]?.body, blob(1).body)
        assert.equal((await store.push.listAttempts(other.id, 'hook', 10)).length, 1)
        assert.deepEqual(await store.tasks.countStates(), [{ state: 'TASK_STATE_COMPLETED', tasks: 1 }])
      }),
    )

    it(
      'does nothing when it is repeated',
      withStore(open, async ({ store }) => {
        const { id } = await createFinished(store)
        assert.equal((await store.erasure.erase({ taskIds: [id] })).tasks, 1)
        assert.equal((await store.erasure.erase({ taskIds: [id] })).tasks, 0)
        assert.deepEqual(await store.erasure.removeOrphans(), { messageClaims: 0, rows: 0 })
      }),
    )

    it(
      'refuses what a process that still has the task in memory writes',
      withStore(open, async ({ store, now }) => {
        const { id } = await createTask(store, {}, { take: { holder: 'process', ttlMs: 60_000 } })
        await store.erasure.erase({ taskIds: [id] })
        const refused = { outcome: 'conflict', head: 0 }
        assert.deepEqual(await store.tasks.append(id, { expectedSeq: 1, records: chunks('late') }), refused)
        await store.tasks.saveSnapshot(id, {
          seq: 1,
          task: { id, status: { state: 'TASK_STATE_WORKING' } },
          internal: {},
        })
        assert.equal(await store.tasks.loadSnapshot(id), undefined)
        assert.deepEqual(await store.tasks.renew('process', [id], now() + 60_000), [id])
      }),
    )

    it(
      'ends the claims of messages, and removeOrphans leaves those of other tasks',
      withStore(open, async ({ store, now }) => {
        const claim = (key: string) => ({ idempotency: { key, hash: 'h', ttlMs: 3_600_000 } })
        const gone = await createTask(store, {}, claim('gone'))
        const kept = await createTask(store, bobPartition, claim('kept'))
        await store.erasure.erase({ taskIds: [gone.id] })
        await store.erasure.removeOrphans()
        assert.equal(await store.tasks.findMessage('gone', now()), undefined)
        assert.equal((await store.tasks.findMessage('kept', now()))?.taskId, kept.id)
        await createTask(store, {}, claim('gone'))
      }),
    )

    it(
      'finds owners by the end of their name, exactly',
      withStore(open, async ({ store }) => {
        for (const owner of ['alice', 'agent:a|alice', 'agent:b|agent:a|alice', 'ALICE', 'alice2', 'bob'])
          await createFinished(store, { owner })
        assert.deepEqual([...(await store.erasure.findOwners('|alice'))].sort(), [
          'agent:a|alice',
          'agent:b|agent:a|alice',
        ])
        assert.deepEqual([...(await store.erasure.findOwners('alice'))].sort(), [
          'agent:a|alice',
          'agent:b|agent:a|alice',
          'alice',
        ])
        assert.deepEqual(await store.erasure.findOwners('%'), [])
        assert.deepEqual(await store.erasure.findOwners(''), [])
      }),
    )
  })

  describe('erasing key-value entries', () => {
    it(
      'removes and replaces entries, keeps the expiry of replaced ones, and creates none',
      withStore(open, async ({ store, now, pass }) => {
        await store.kv.write('a', { key: 'gone', value: 1 })
        await store.kv.write('a', { key: 'kept', value: 'alice', expiresAt: now() + 1_000 })
        await store.kv.write('b', { key: 'gone', value: 2 })
        const counts = await store.erasure.erase({
          entries: [
            { kind: 'a', key: 'gone' },
            { kind: 'a', key: 'none' },
          ],
          replacements: [
            { kind: 'a', key: 'kept', value: 'erased' },
            { kind: 'a', key: 'none', value: 'erased' },
          ],
        })
        assert.equal(counts.entries, 1)
        assert.equal(counts.replaced, 1)
        assert.equal(await store.kv.read('a', 'gone'), undefined)
        assert.equal(await store.kv.read('a', 'none'), undefined)
        assert.equal((await store.kv.read('b', 'gone'))?.value, 2)
        const kept = await store.kv.read('a', 'kept')
        assert.equal(kept?.value, 'erased')
        assert.equal(kept?.version, 2)
        await pass(1_100)
        assert.equal(await store.kv.read('a', 'kept'), undefined)
      }),
    )
  })

  describe('compaction', () => {
    it(
      'keeps all live data',
      withStore(open, async ({ store }) => {
        const { id } = await createFinished(store)
        await addEverything(store, id)
        await store.kv.write('a', { key: 'kept', value: 1 })
        assert.equal((await store.erasure.compact()).isDone, true)
        assert.deepEqual((await store.tasks.read(id, 1))[0]?.body, blob(1).body)
        assert.equal((await store.kv.read('a', 'kept'))?.value, 1)
        await createFinished(store)
      }),
    )
  })
}
