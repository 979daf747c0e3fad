/** Two stores on one database, like two replicas: one is notified of the writes of the other, and polls if notifications are lost. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store } from '@parley/a2a/stores'
import { notificationPayload } from '../../packages/a2a/src/stores/postgres/listener.ts'
import {
  assertAppended,
  chunks,
  createTask,
  recordTexts,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { openDatabase, skipReason } from './databases.ts'

const forever = (): AbortSignal => new AbortController().signal

/** Reads the log as it grows, until it has this many records. */
async function follow(store: Store, id: string, until: number): Promise<readonly string[]> {
  const seen = []
  let head = 0
  while (head < until) {
    const news = await store.tasks.read(id, head)
    seen.push(...news)
    head = news.at(-1)?.seq ?? head
    if (head < until) await store.tasks.changed(id, head, forever())
  }
  return recordTexts(seen)
}

const skip = await skipReason()
describe('a change by another replica', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const listen = () => database.client()
  const letters = Array.from({ length: 40 }, (_, n) => `${n}`)

  async function write(store: Store, id: string): Promise<void> {
    for (const [n, letter] of letters.entries())
      await assertAppended(store, id, { expectedSeq: n + 1, records: chunks(letter) })
  }

  it('wakes a listening store at once, event after event', async () => {
    const [here, there] = [database.open({ listen }), database.open({ listen, pollMs: 600_000 })]
    await waitForNotifications(here, there)
    const { id } = await createTask(here)
    const [seen] = await Promise.all([follow(there, id, 41), write(here, id)])
    assert.deepEqual(seen.slice(1), letters)
  })

  it('is found by a store that does not listen', async () => {
    const [here, there] = [database.open(), database.open({ pollMs: 10 })]
    const { id } = await createTask(here)
    const [seen] = await Promise.all([follow(there, id, 41), write(here, id)])
    assert.deepEqual(seen.slice(1), letters)
  })

  it('wakes the store when more tasks changed together than fit into one notification', async () => {
    const [here, there] = [database.open({ listen }), database.open({ listen, pollMs: 600_000 })]
    await waitForNotifications(here, there)
    const tasks = await Promise.all(Array.from({ length: 400 }, () => createTask(here)))
    const waiting = tasks.map(({ id }) => there.tasks.changed(id, 1, forever()))
    await Promise.all(tasks.map(({ id }) => assertAppended(here, id, { expectedSeq: 1, records: chunks('x') })))
    await Promise.all(waiting)
  })

  it('wakes the store again after the listening connection was lost', async () => {
    const [here, there] = [database.open(), database.open({ listen, pollMs: 600_000 })]
    await waitForNotifications(here, there)
    const { id } = await createTask(here)
    const waiting = there.tasks.changed(id, 1, forever())
    await database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`)
    await assertAppended(here, id, { expectedSeq: 1, records: chunks('x') })
    await waiting
    await waitForNotifications(here, there)
  })

  it('costs waiting readers no statement, however many they are', async () => {
    const [here, there] = [database.open({ listen }), database.open({ listen, pollMs: 600_000 })]
    await waitForNotifications(here, there)
    const tasks = await Promise.all(Array.from({ length: 300 }, () => createTask(here)))
    await Promise.all(tasks.map(({ id }) => there.tasks.read(id, 0)))
    let asked = 0
    const count = (): void => void (asked += 1)
    database.pool.on('acquire', count)
    const timeout = new AbortController()
    const waiting = tasks.map(({ id }) => there.tasks.changed(id, 1, timeout.signal))
    await new Promise((resolve) => setTimeout(resolve, 50))
    database.pool.off('acquire', count)
    assert.ok(asked <= 1, `${asked} statements for 300 who wait`)
    timeout.abort()
    await Promise.all(waiting)
  })

  it('is not waited for by a reader that has not seen the existing records', async () => {
    const [here, there] = [database.open({ listen }), database.open({ listen, pollMs: 600_000 })]
    const { id } = await createTask(here)
    await there.tasks.read(id, 0)
    await assertAppended(here, id, { expectedSeq: 1, records: chunks('x') })
    await there.tasks.changed(id, 1, forever())
  })
})

/** Resolves once the second store is notified of writes of the first. */
async function waitForNotifications(here: Store, there: Store): Promise<void> {
  const { id } = await createTask(here)
  await there.tasks.read(id, 0)
  const changed = there.tasks.changed(id, 1, forever())
  let head = 1
  let isNotified = false
  void changed.then(() => (isNotified = true))
  while (!isNotified) {
    ;({ head } = await assertAppended(here, id, { expectedSeq: head, records: chunks('hello') }))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

describe('a notification', () => {
  it('names the tasks, or only reports that there are many', () => {
    assert.equal(notificationPayload('me', new Set(['a', 'b'])), '["me","a","b"]')
    const many = new Set(Array.from({ length: 400 }, (_, n) => `${n}`.padStart(36, '0')))
    assert.equal(notificationPayload('me', many), '["me"]')
    assert.ok(Buffer.byteLength(notificationPayload('me', new Set([...many].slice(0, 200)))) < 8_000)
  })
})
