import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { TaskSummary } from '../../../api/admin.ts'
import { createPagedList, type PagedList } from '../../../api/paged-list.ts'
import { taskFilters } from './task-filters.ts'
import { mergeTasks, newerTask, taskListOptions } from './task-list.ts'
import { compareTasks, readTaskOrder } from './task-order.ts'

const task = (number: number, more: Partial<TaskSummary> = {}): TaskSummary => ({
  id: `t${number}`,
  contextId: 'c',
  agent: 'a',
  caller: 'ann',
  tenant: '',
  state: 'TASK_STATE_WORKING',
  statusAt: new Date(1_900_000_000_000 + number * 1_000).toISOString(),
  createdAt: new Date(1_900_000_000_000).toISOString(),
  title: `number ${number}`,
  head: number,
  ...more,
})

/** The responses of the fake hub by its `before` parameter, and the requests it received. */
let pages: Record<string, { tasks: TaskSummary[]; before?: string } | undefined> = {}
let requests: string[] = []
const realFetch = globalThis.fetch
const fakeFetch: typeof fetch = async (input) => {
  const { searchParams } = new URL(String(input), 'http://hub')
  const before = searchParams.get('before') ?? ''
  requests.push(before)
  const page = pages[before]
  if (page === undefined) throw new TypeError('the hub is unreachable')
  return Response.json(page)
}
let list: PagedList<TaskSummary>
const open = (query = ''): void => {
  const params = new URLSearchParams(query)
  list = createPagedList(taskListOptions(taskFilters.read(params), readTaskOrder(params)))
}
const ids = (): string => (list.items.value ?? []).map(({ id }) => id).join(' ')
async function waitUntil(holds: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + 120_000
  while (!holds()) {
    if (Date.now() > giveUpAt) assert.fail(`waited 120 s for ${String(holds)}, with ${ids()}`)
    await pause(5)
  }
}

describe('the task list', () => {
  // Only while these tests run: other tests in this process use another fetch.
  before(() => {
    globalThis.fetch = fakeFetch
  })
  after(() => {
    globalThis.fetch = realFetch
  })
  beforeEach(() => {
    pages = { '': { tasks: [task(3), task(2)], before: 'x' }, x: { tasks: [task(1)] } }
    requests = []
  })
  afterEach(() => list.close())

  it('loads page after page until there are no more', async () => {
    open()
    await waitUntil(() => ids() === 't3 t2')
    list.loadMore()
    await waitUntil(() => ids() === 't3 t2 t1' && !list.hasMore.value)
    list.loadMore()
    assert.deepEqual(requests, ['', 'x'])
  })

  it('searches page after page, and pauses after ten empty ones', async () => {
    pages = { '': { tasks: [], before: '1' }, '10': { tasks: [task(1)] } }
    for (let number = 1; number < 10; number += 1) pages[String(number)] = { tasks: [], before: String(number + 1) }
    open('text=number')
    await waitUntil(() => list.pausedAt.value === '10')
    assert.equal(requests.length, 10)
    list.loadMore()
    assert.equal(requests.length, 10)
    list.continueSearch()
    await waitUntil(() => ids() === 't1' && !list.hasMore.value)
  })

  it('applies changes: adds new tasks, moves known ones, removes those that no longer match', async () => {
    open('state=TASK_STATE_WORKING')
    await waitUntil(() => ids() === 't3 t2')
    list.applyChange({ type: 'task', task: task(4) })
    assert.equal(ids(), 't4 t3 t2')
    const { title: _, ...moved } = task(9, { id: 't2' })
    list.applyChange({ type: 'task', task: moved })
    assert.equal(ids(), 't2 t4 t3')
    assert.equal(list.items.value?.[0]?.title, 'number 2')
    list.applyChange({ type: 'task', task: task(9, { id: 't3', state: 'TASK_STATE_FAILED' }) })
    assert.equal(ids(), 't2 t4')
  })

  it('keeps rows in place and holds new tasks back while the user reads', async () => {
    open('state=TASK_STATE_WORKING')
    await waitUntil(() => ids() === 't3 t2')
    list.setAtTop(false)
    list.applyChange({ type: 'task', task: task(4) })
    list.applyChange({ type: 'task', task: task(5, { id: 't3', state: 'TASK_STATE_FAILED' }) })
    assert.equal(ids(), 't3 t2')
    assert.equal(list.items.value?.[0]?.state, 'TASK_STATE_FAILED')
    assert.equal(list.newCount.value, 1)
    list.setAtTop(true)
    assert.equal(ids(), 't4 t2')
    assert.equal(list.newCount.value, 0)
  })

  it('reloads when changes were not reported one by one', async () => {
    open()
    await waitUntil(() => ids() === 't3 t2')
    pages[''] = { tasks: [task(99), task(98)], before: 'x' }
    list.applyChange({ type: 'tasks', count: 500 })
    await waitUntil(() => ids() === 't99 t98')
    list.setAtTop(false)
    pages[''] = { tasks: [task(200), task(199)], before: 'x' }
    list.applyChange({ type: 'reset' })
    await waitUntil(() => list.newCount.value === 2)
    assert.equal(ids(), 't99 t98')
    list.setAtTop(true)
    await waitUntil(() => ids() === 't200 t199')
  })

  it('ignores a change that belongs to a page that is not loaded yet', async () => {
    pages = { '': { tasks: [task(2), task(3)], before: 'x' }, x: { tasks: [task(4)] } }
    open('order=asc')
    await waitUntil(() => ids() === 't2 t3')
    list.applyChange({ type: 'task', task: task(9) })
    list.applyChange({ type: 'task', task: task(1) })
    assert.equal(ids(), 't1 t2 t3')
    list.loadMore()
    await waitUntil(() => ids() === 't1 t2 t3 t4')
    list.applyChange({ type: 'task', task: task(9) })
    assert.equal(ids(), 't1 t2 t3 t4 t9')
  })

  it('asks the hub when a change does not show whether the task matches', async () => {
    open('text=meta')
    await waitUntil(() => ids() === 't3 t2')
    pages[''] = { tasks: [task(7), task(3), task(2)], before: 'x' }
    list.applyChange({ type: 'task', task: task(7) })
    await waitUntil(() => ids() === 't7 t3 t2')
  })

  it('retries until the hub answers', async (t) => {
    const { setTimeout: realSetTimeout } = globalThis
    t.mock.method(globalThis, 'setTimeout', (run: () => void, ms = 0, ...rest: []) =>
      realSetTimeout(run, Math.min(ms, 10), ...rest),
    )
    const { '': first } = pages
    pages = {}
    open()
    await waitUntil(() => list.problem.value !== undefined)
    pages = { '': first }
    await waitUntil(() => ids() === 't3 t2' && list.problem.value === undefined)
  })
})

const taskAt = (id: string, minute: number, more: Partial<TaskSummary> = {}): TaskSummary => ({
  id,
  contextId: 'c',
  agent: 'a',
  caller: 'ann',
  tenant: '',
  state: 'TASK_STATE_WORKING',
  statusAt: `2030-01-31T12:${String(minute).padStart(2, '0')}:00.000Z`,
  createdAt: '2030-01-31T12:00:00.000Z',
  title: id,
  head: minute,
  ...more,
})
const idsOf = (tasks: readonly TaskSummary[]): string => tasks.map(({ id }) => id).join('')

describe('merged tasks', () => {
  const newest = compareTasks({ sort: 'time', direction: 'desc' })
  const list = [taskAt('c', 3), taskAt('b', 2), taskAt('a', 1)]

  it('are in the order of their status time, without duplicates', () => {
    assert.equal(idsOf(mergeTasks(list, [taskAt('d', 4), taskAt('a', 5)], newest)), 'adcb')
    assert.equal(idsOf(mergeTasks(list, [taskAt('d', 2)], newest)), 'cdba')
  })

  it('keep the title that was sent only once, and never an older state', () => {
    const { title: _, ...bare } = taskAt('b', 9)
    assert.equal(mergeTasks(list, [bare], newest)[0]?.title, 'b')
    const [, old] = mergeTasks(list, [taskAt('b', 2, { head: 1, state: 'TASK_STATE_SUBMITTED' })], newest)
    assert.equal(old?.state, 'TASK_STATE_WORKING')
  })

  it('keep the result and the name of the caller, and add the wait that an update ends', () => {
    const about = { result: 'Rome', callerName: 'Ann', waitingMs: 1_000 }
    const known = taskAt('b', 2, { state: 'TASK_STATE_INPUT_REQUIRED', ...about })
    const { waitingMs, result, callerName } = newerTask(known, taskAt('b', 5))
    assert.deepEqual([waitingMs, result, callerName], [181_000, 'Rome', 'Ann'])
    assert.equal(newerTask(known, taskAt('b', 5, { waitingMs: 7 })).waitingMs, 7)
  })

  it('are in any order that the hub offers', () => {
    const many = [
      taskAt('a', 1, { agent: 'z', state: 'TASK_STATE_COMPLETED', durationMs: 9 }),
      taskAt('b', 2, { agent: 'y', state: 'TASK_STATE_FAILED', durationMs: 5, waitingMs: 4 }),
      taskAt('c', 3, { agent: 'z', state: 'TASK_STATE_INPUT_REQUIRED', durationMs: 7 }),
    ]
    const ordered = (query: string): string =>
      idsOf(mergeTasks([], many, compareTasks(readTaskOrder(new URLSearchParams(query)))))
    assert.deepEqual(
      [
        '',
        'order=asc',
        'sort=agent',
        'sort=agent&order=desc',
        'sort=state',
        'sort=duration',
        'sort=duration&order=asc',
      ].map(ordered),
      ['cba', 'abc', 'bca', 'cab', 'cba', 'acb', 'bca'],
    )
  })
})
