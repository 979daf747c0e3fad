import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, newId } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import { createTaskFacts } from './task-facts.ts'
import { searchTasks, type TaskQuery } from './task-search.ts'

const search = (store: Store, query: TaskQuery) =>
  searchTasks({ store, facts: createTaskFacts(store), now: () => 1_000_000 }, query)

async function fill(
  store: Store,
  count: number,
  textOf: (n: number) => string,
  ownerOf: (n: number) => string = () => 'ann',
): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => newId())
  for (const [n, id] of ids.entries()) {
    const at = 1_000 + n
    const status = { state: 'TASK_STATE_COMPLETED' as const, timestamp: new Date(at).toISOString() }
    const message = { messageId: `m${n}`, role: 'ROLE_USER' as const, parts: [{ text: textOf(n) }] }
    await store.tasks.append(id, {
      expectedSeq: 0,
      create: { tenant: '', agent: 'echo', owner: ownerOf(n), id, contextId: id, status, statusAt: at, createdAt: at },
      records: [
        { at, body: { type: 'message', message } },
        { at, body: { type: 'status', status } },
      ],
    })
  }
  return ids
}

describe('the tasks of the top level', () => {
  it('are those that no agent delegated, in whole pages, in every order', async () => {
    const store = memoryStore()
    const ids = await fill(
      store,
      6,
      (n) => `text ${n}`,
      (n) => (n % 2 === 0 ? 'ann' : 'agent:front|ann'),
    )
    for (const sort of ['time', 'agent', 'duration'] as const) {
      const first = await search(store, { limit: 2, level: 'top', sort })
      const second = await search(store, { limit: 2, level: 'top', sort, before: first.before ?? '' })
      const listed = [...first.tasks, ...second.tasks].map(({ id }) => id)
      assert.deepEqual(listed, [ids[4], ids[2], ids[0]], sort)
    }
  })
})

describe('a text, looked for in tasks', () => {
  it('is looked for in so many and no further, and the next page goes on', async () => {
    const store = memoryStore({ maxTasks: 5_000 })
    const ids = await fill(store, 2_300, (n) => (n === 0 ? 'the needle' : `straw ${n}`))
    let pages = 0
    const found: string[] = []
    for (let before: string | undefined; ;) {
      const page = await search(store, { limit: 50, text: 'NEEDLE', ...(before !== undefined ? { before } : {}) })
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
    const first = await search(store, { limit: 2, text: 'odd' })
    assert.deepEqual(
      first.tasks.map(({ id }) => id),
      [ids[9], ids[7]],
    )
    const second = await search(store, { limit: 3, text: 'odd', before: first.before as string })
    assert.deepEqual(
      second.tasks.map(({ id }) => id),
      [ids[5], ids[3], ids[1]],
    )
    const rest =
      second.before === undefined ? undefined : await search(store, { limit: 3, text: 'odd', before: second.before })
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
    const { tasks } = await search(store, { limit: 5, text: 'long' })
    assert.equal(tasks[0]?.title, 'long ago')
  })
})

describe('the order of tasks', () => {
  /** Working time, then what happened to the task. */
  const made = [
    { agent: 'echo', state: 'COMPLETED', createdAt: 0, statusAt: 900 },
    { agent: 'clock', state: 'FAILED', createdAt: 100, statusAt: 400 },
    { agent: 'zoë', state: 'INPUT_REQUIRED', createdAt: 200, statusAt: 700 },
    { agent: 'clock', state: 'WORKING', createdAt: 300, statusAt: 301 },
    { agent: 'echo', state: 'COMPLETED', createdAt: 400, statusAt: 410 },
  ] as const
  const now = 1_000

  async function filled(): Promise<Store> {
    const store = memoryStore()
    for (const [n, { agent, state, createdAt, statusAt }] of made.entries()) {
      const status = { state: `TASK_STATE_${state}`, timestamp: new Date(statusAt).toISOString() } as const
      const message = { messageId: `m${n}`, role: 'ROLE_USER' as const, parts: [{ text: `task ${n}` }] }
      const create = { tenant: '', agent, owner: 'ann', id: `t${n}`, contextId: 'c', status, statusAt, createdAt }
      const records = [
        { at: createdAt, body: { type: 'message', message } },
        { at: statusAt, body: { type: 'status', status } },
      ] as const
      await store.tasks.append(`t${n}`, { expectedSeq: 0, create, records })
    }
    return store
  }

  /** The numbers of the tasks, page by page. */
  async function pagesOf(store: Store, query: Omit<TaskQuery, 'limit'>, limit: number): Promise<string> {
    const deps = { store, facts: createTaskFacts(store), now: () => now }
    const seen: string[] = []
    for (let before: string | undefined; ;) {
      const page = await searchTasks(deps, { ...query, limit, ...(before !== undefined ? { before } : {}) })
      assert.ok(page.tasks.length <= limit)
      seen.push(...page.tasks.map(({ id }) => id.slice(1)))
      before = page.before
      if (before === undefined) return seen.join('')
    }
  }

  for (const [sort, direction, expected] of [
    ['time', 'desc', '02413'],
    ['time', 'asc', '31420'],
    ['agent', 'asc', '13042'],
    ['agent', 'desc', '20413'],
    // Needs input, working, failed, completed.
    ['state', 'asc', '23104'],
    ['state', 'desc', '04132'],
    // 900, 700 so far, 500, 300, 10 ms.
    ['duration', 'desc', '03214'],
    ['duration', 'asc', '41230'],
  ] as const) {
    it(`is by ${sort}, ${direction}, for any page size`, async () => {
      const store = await filled()
      for (const limit of [1, 2, 3, 5, 50]) {
        assert.equal(await pagesOf(store, { sort, direction }, limit), expected, `pages of ${limit}`)
      }
    })
  }

  it('applies to the tasks that match the filters', async () => {
    const store = await filled()
    assert.equal(
      await pagesOf(store, { sort: 'agent', states: ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED'] }, 2),
      '104',
    )
    assert.equal(await pagesOf(store, { sort: 'state', agent: 'clock' }, 1), '31')
    assert.equal(await pagesOf(store, { sort: 'state', text: 'task 4' }, 1), '4')
    assert.equal(await pagesOf(store, { sort: 'duration', from: 400, until: 900 }, 1), '214')
  })

  it('reads the logs of few tasks at the same time', async () => {
    const store = memoryStore()
    await fill(store, 100, (n) => `task ${n}`)
    const facts = createTaskFacts(store)
    let open = 0
    let mostOpen = 0
    const counted = {
      async read(...row: Parameters<typeof facts.read>) {
        mostOpen = Math.max(mostOpen, (open += 1))
        const found = await facts.read(...row)
        open -= 1
        return found
      },
    }
    for (const sort of ['duration', 'time'] as const) {
      const page = await searchTasks({ store, facts: counted, now: () => 1_000_000 }, { limit: 100, sort })
      assert.equal(page.tasks.length, 100)
    }
    assert.ok(mostOpen <= 20, `${mostOpen} at the same time`)
  })

  it('refuses the cursor of another order', async () => {
    const store = await filled()
    const deps = { store, facts: createTaskFacts(store), now: () => now }
    const { before = '' } = await searchTasks(deps, { limit: 1 })
    await assert.rejects(searchTasks(deps, { limit: 1, sort: 'agent', before }), { code: 'INVALID_PARAMS' })
    await assert.rejects(searchTasks(deps, { limit: 1, before: 'nonsense' }), { code: 'INVALID_PARAMS' })
  })
})
