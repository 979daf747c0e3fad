import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, newId, type Store } from '@parley/a2a'
import { searchTasks } from './task-view.ts'

async function fill(store: Store, count: number, textOf: (n: number) => string): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => newId())
  for (const [n, id] of ids.entries()) {
    const at = 1_000 + n
    const status = { state: 'TASK_STATE_COMPLETED' as const, timestamp: new Date(at).toISOString() }
    const message = { messageId: `m${n}`, role: 'ROLE_USER' as const, parts: [{ text: textOf(n) }] }
    await store.tasks.append(id, {
      expectedSeq: 0,
      create: { tenant: '', agent: 'echo', owner: 'ann', id, contextId: id, status, statusAt: at, createdAt: at },
      records: [
        { at, body: { type: 'message', message } },
        { at, body: { type: 'status', status } },
      ],
    })
  }
  return ids
}

describe('a text, looked for in tasks', () => {
  it('is looked for in so many and no further, and the next page goes on', async () => {
    const store = memoryStore({ maxTasks: 5_000 })
    const ids = await fill(store, 2_300, (n) => (n === 0 ? 'the needle' : `straw ${n}`))
    let pages = 0
    const found: string[] = []
    for (let before: string | undefined; ;) {
      const page = await searchTasks(store, { limit: 50, text: 'NEEDLE', ...(before !== undefined ? { before } : {}) })
      pages += 1
      found.push(...page.tasks.map(({ id }) => id))
      before = page.before
      if (before === undefined) break
    }
    assert.deepEqual([pages, found], [3, [ids[0]]])
  })

  it('ends a page where it is full, also in the middle of what was looked at', async () => {
    const store = memoryStore()
    const ids = await fill(store, 10, (n) => (n % 2 === 0 ? 'even' : 'odd'))
    const first = await searchTasks(store, { limit: 2, text: 'odd' })
    assert.deepEqual(
      first.tasks.map(({ id }) => id),
      [ids[9], ids[7]],
    )
    const second = await searchTasks(store, { limit: 3, text: 'odd', before: first.before as string })
    assert.deepEqual(
      second.tasks.map(({ id }) => id),
      [ids[5], ids[3], ids[1]],
    )
    const rest =
      second.before === undefined
        ? undefined
        : await searchTasks(store, { limit: 3, text: 'odd', before: second.before })
    assert.deepEqual(rest?.tasks ?? [], [])
  })

  it('is found where the log was dropped, in what it added up to', async () => {
    const store = memoryStore()
    const [id] = (await fill(store, 1, () => 'long ago')) as [string]
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'long ago' }] }
    const status = { state: 'TASK_STATE_COMPLETED' as const }
    await store.tasks.saveSnapshot(id, {
      seq: 2,
      task: { id, contextId: id, status, history: [message] },
      internal: {},
    })
    await store.prune({ logBefore: 10_000, batch: 10 })
    assert.deepEqual(await store.tasks.read(id, 0), [])
    const { tasks } = await searchTasks(store, { limit: 5, text: 'long' })
    assert.equal(tasks[0]?.title, 'long ago')
  })
})
