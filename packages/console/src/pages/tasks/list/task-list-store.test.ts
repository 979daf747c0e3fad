import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { TaskSummary } from '../../../api/admin.ts'
import { taskFiltersFromQuery } from './task-filters.ts'
import { createTaskListStore } from './task-list-store.ts'
import type { TaskListStore } from './task-list-store.ts'

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
let asked: string[] = []
const platform = globalThis.fetch
const hubAnswers: typeof fetch = async (input) => {
  const { searchParams } = new URL(String(input), 'http://hub')
  const before = searchParams.get('before') ?? ''
  asked.push(before)
  const page = pages[before]
  if (page === undefined) throw new TypeError('the hub is away')
  return Response.json(page)
}
let list: TaskListStore
const open = (query = ''): void => {
  list = createTaskListStore(taskFiltersFromQuery(new URLSearchParams(query)))
}
const ids = (): string => list.tasks.value.map(({ id }) => id).join(' ')
async function until(holds: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + 60_000
  while (!holds()) {
    if (Date.now() > giveUpAt) assert.fail(`it did not come to pass: ${ids()}`)
    await pause(5)
  }
}

describe('the tasks that are listed', () => {
  // Only while these tests run: other tests in this process use another fetch.
  before(() => {
    globalThis.fetch = hubAnswers
  })
  after(() => {
    globalThis.fetch = platform
  })
  beforeEach(() => {
    pages = { '': { tasks: [task(3), task(2)], before: 'x' }, x: { tasks: [task(1)] } }
    asked = []
  })
  afterEach(() => list.close())

  it('come a page at a time, until there are no more', async () => {
    open()
    await until(() => ids() === 't3 t2')
    list.loadMore()
    await until(() => ids() === 't3 t2 t1' && list.isComplete.value)
    list.loadMore()
    assert.deepEqual(asked, ['', 'x'])
  })

  it('are looked for in page after page, and after ten empty ones only on demand', async () => {
    pages = { '': { tasks: [], before: '1' }, '10': { tasks: [task(1)] } }
    for (let number = 1; number < 10; number += 1) pages[String(number)] = { tasks: [], before: String(number + 1) }
    open('text=number')
    await until(() => list.isSearchPaused.value)
    assert.equal(asked.length, 10)
    list.loadMore()
    assert.equal(asked.length, 10)
    list.continueSearch()
    await until(() => ids() === 't1' && list.isComplete.value)
  })

  it('change as the stream tells it: new ones come, known ones move, others leave', async () => {
    open('state=TASK_STATE_WORKING')
    await until(() => ids() === 't3 t2')
    list.applyChange({ type: 'task', task: task(4) })
    assert.equal(ids(), 't4 t3 t2')
    const { title: _, ...moved } = task(9, { id: 't2' })
    list.applyChange({ type: 'task', task: moved })
    assert.equal(ids(), 't2 t4 t3')
    assert.equal(list.tasks.value[0]?.title, 'number 2')
    list.applyChange({ type: 'task', task: task(9, { id: 't3', state: 'TASK_STATE_FAILED' }) })
    assert.equal(ids(), 't2 t4')
  })

  it('stay in place while the user reads; new tasks are held back', async () => {
    open('state=TASK_STATE_WORKING')
    await until(() => ids() === 't3 t2')
    list.setReading(true)
    list.applyChange({ type: 'task', task: task(4) })
    list.applyChange({ type: 'task', task: task(5, { id: 't3', state: 'TASK_STATE_FAILED' }) })
    assert.equal(ids(), 't3 t2')
    assert.equal(list.tasks.value[0]?.state, 'TASK_STATE_FAILED')
    assert.equal(list.newCount.value, 1)
    list.setReading(false)
    assert.equal(ids(), 't4 t2')
    assert.equal(list.newCount.value, 0)
  })

  it('are loaded anew where more happened than was told', async () => {
    open()
    await until(() => ids() === 't3 t2')
    pages[''] = { tasks: [task(99), task(98)], before: 'x' }
    list.applyChange({ type: 'tasks', count: 500 })
    await until(() => ids() === 't99 t98')
    list.setReading(true)
    pages[''] = { tasks: [task(200), task(199)], before: 'x' }
    list.applyChange({ type: 'reset' })
    await until(() => list.newCount.value === 2)
    assert.equal(ids(), 't99 t98')
    list.setReading(false)
    await until(() => ids() === 't200 t199')
  })

  it('are looked up where the stream cannot say whether they fit', async () => {
    open('text=meta')
    await until(() => ids() === 't3 t2')
    pages[''] = { tasks: [task(7), task(3), task(2)], before: 'x' }
    list.applyChange({ type: 'task', task: task(7) })
    await until(() => ids() === 't7 t3 t2')
  })

  it('are tried again by themselves when the hub is back', async () => {
    const { '': first } = pages
    pages = {}
    open()
    await until(() => list.problem.value !== undefined)
    pages = { '': first }
    await until(() => ids() === 't3 t2' && list.problem.value === undefined)
  })
})
