import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { storeContract, type OpenedStore } from '../../testing/store-contract.ts'
import type { FullStore } from '../store.ts'
import {
  assertAppended,
  chunks,
  createTask,
  createFinished,
  day0,
  newTaskFields,
  newPushRow,
} from '../../testing/store-contract/harness.ts'
import { memoryStore } from './memory-store.ts'

async function openMemory(): Promise<OpenedStore<FullStore>> {
  let time = day0
  const store = memoryStore({ now: () => time, leaseTtlMs: 10_000 })
  return {
    store,
    clock: { now: () => time, advance: (ms) => void (time += ms) },
    dispose: () => store.close(),
  }
}

storeContract('memoryStore', openMemory, { isDurable: false })

describe('memoryStore', () => {
  const countOf = async (store: ReturnType<typeof memoryStore>): Promise<number> =>
    (await store.tasks.list({ tenant: 'acme', agent: 'echo', owner: 'alice', limit: 1 })).total

  it('keeps 1,000 tasks and removes the 100 oldest finished ones at a time [S0-18]', async () => {
    const store = memoryStore()
    const ids = []
    for (let n = 0; n < 1_000; n += 1) ids.push((await createFinished(store, { statusAt: day0 + n })).id)
    assert.equal(await countOf(store), 1_000)
    await createTask(store)
    assert.equal(await countOf(store), 901)
    assert.equal(await store.tasks.load(ids[99] as string), undefined)
    assert.notEqual(await store.tasks.load(ids[100] as string), undefined)
  })

  it('never removes an active task to keep its limit, nor one with pending push notifications [S0-19]', async () => {
    const store = memoryStore({ maxTasks: 3, pruneBatch: 2 })
    const active = await createTask(store)
    const notified = await createFinished(store)
    await store.push.save(newPushRow(notified.id))
    for (let n = 0; n < 4; n += 1) await createTask(store)
    assert.equal(await countOf(store), 6)
    assert.notEqual(await store.tasks.load(active.id), undefined)
    assert.notEqual(await store.tasks.load(notified.id), undefined)
  })

  it('resolves appends in a later turn, like a store with a disk', async () => {
    const store = memoryStore()
    const task = newTaskFields()
    let answered = false
    const pending = store.tasks.append(task.id, { expectedSeq: 0, create: task, records: chunks('a') }).then(() => {
      answered = true
    })
    assert.equal(answered, false)
    await pending
    assert.equal(answered, true)
  })

  it('lets the lease of an ended task expire', async () => {
    let time = day0
    const store = memoryStore({ now: () => time, leaseTtlMs: 10_000 })
    const take = { holder: 'one', ttlMs: 10 }
    const task = await createTask(store, { state: 'TASK_STATE_COMPLETED' }, { take })
    const { fence } = await assertAppended(store, task.id, { expectedSeq: 1, records: [], take })
    const append = { expectedSeq: 1, fence: fence as number, records: [] }
    assert.equal((await store.tasks.append(task.id, append)).outcome, 'appended')
    time += 10
    assert.equal((await store.tasks.append(task.id, append)).outcome, 'fenced')
  })

  it('has leases without expiry unless a time is given', () => {
    assert.equal(memoryStore().leaseTtlMs, Infinity)
    assert.equal(memoryStore({ leaseTtlMs: 10_000 }).leaseTtlMs, 10_000)
  })
})
