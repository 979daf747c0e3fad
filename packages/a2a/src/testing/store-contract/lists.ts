/** Lists: one partition at a time, in a fixed order, paged without loss or repeat, with totals that are always right. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isTerminal, taskStates, type TaskState } from '../../model/state.ts'
import type { LogRecord } from '../../model/record.ts'
import type { ListedTask, ListQuery, Store, TaskRow } from '../../stores/store.ts'
import {
  type OpenStore,
  alicePartition,
  assertAppended,
  bobPartition,
  chunk,
  chunks,
  createTask,
  createFinished,
  day0,
  idsOf,
  moveTask,
  noteRecords,
  taskStatusOf,
  withStore,
} from './harness.ts'

/** Reads all pages, with an action in between. */
async function allPages(store: Store, query: ListQuery, between?: (page: number) => Promise<unknown>) {
  const seen: TaskRow[] = []
  let before: ListQuery['before']
  for (let page = 0; page < 100; page += 1) {
    const { tasks, more } = await store.tasks.list({ ...query, ...(before && { before }) })
    assert.ok(tasks.length <= query.limit)
    seen.push(...tasks)
    const last = tasks.at(-1)
    if (!more || last === undefined) return seen
    before = { statusAt: last.statusAt, id: last.id }
    await between?.(page)
  }
  return assert.fail('the pages do not end')
}

async function createMany(store: Store, count: number, fields: (n: number) => Parameters<typeof createTask>[1]) {
  const tasks = []
  for (let n = 0; n < count; n += 1) tasks.push(await createTask(store, fields(n)))
  return tasks
}

export function listContract(open: OpenStore): void {
  describe('lists', () => {
    it(
      'have the newest status first and break ties by id, descending [B-78]',
      withStore(open, async ({ store }) => {
        const at = [3, 1, 2, 2, 2]
        const tasks = await createMany(store, 5, (n) => ({ id: `task-${n}`, statusAt: day0 + (at[n] as number) }))
        const page = await store.tasks.list({ ...alicePartition, limit: 10 })
        assert.deepEqual(idsOf(page.tasks), ['task-0', 'task-4', 'task-3', 'task-2', 'task-1'])
        assert.deepEqual({ more: page.more, total: page.total }, { more: false, total: 5 })
        const { records: _, ...row } = page.tasks[0] as ListedTask
        assert.deepEqual(row, await store.tasks.load(tasks[0]?.id as string))
      }),
    )

    it(
      'have the whole log of a task, or none of it',
      withStore(open, async ({ store }) => {
        const one = await createTask(store, {}, { records: chunks('a', 'b') })
        const two = await createTask(store, {}, { records: chunks('a') })
        const [early] = noteRecords('early')
        await assertAppended(store, two.id, { expectedSeq: 1, records: [{ at: 0, body: (early as LogRecord).body }] })
        await createTask(store, {}, { records: chunks('x'.repeat(100_000)) })
        const file = { raw: Buffer.alloc(20_000, 'file').toString('base64') }
        const withFile = await createTask(store, {}, { records: [chunk(file)] })
        await createFinished(store)
        const { tasks } = await store.tasks.list({ ...alicePartition, limit: 10 })
        assert.equal(tasks.length, 5)
        for (const { id, head, records } of tasks) {
          if (records === undefined) continue
          assert.deepEqual(records, await store.tasks.read(id, 0))
          assert.equal(records.at(-1)?.seq ?? 0, head)
        }
        for (const { id } of [one, two, withFile]) assert.ok(idsOf(tasks).includes(id))
      }),
    )

    it(
      'mix states in one order',
      withStore(open, async ({ store }) => {
        const states = taskStates.slice(1)
        await createMany(store, 24, (n) => ({
          id: `task-${String(n).padStart(2, '0')}`,
          state: states[n % states.length] as TaskState,
          statusAt: day0 + Math.floor(n / 2),
        }))
        const expected = Array.from({ length: 24 }, (_, n) => `task-${String(23 - n).padStart(2, '0')}`)
        for (const limit of [1, 5, 23, 24, 50]) {
          assert.deepEqual(idsOf(await allPages(store, { ...alicePartition, limit })), expected)
        }
      }),
    )

    it(
      'have one partition only [B-77]',
      withStore(open, async ({ store }) => {
        const mine = await createTask(store)
        await createTask(store, { ...bobPartition })
        await createTask(store, { agent: 'another agent' })
        await createTask(store, { tenant: 'another tenant' })
        const page = await store.tasks.list({ ...alicePartition, limit: 10 })
        assert.deepEqual(idsOf(page.tasks), [mine.id])
        assert.equal(page.total, 1)
        assert.deepEqual(await store.tasks.list({ ...alicePartition, owner: 'unknown', limit: 10 }), {
          tasks: [],
          more: false,
          total: 0,
        })
      }),
    )

    it(
      'report whether there are more, also at the exact limit',
      withStore(open, async ({ store }) => {
        await createMany(store, 4, (n) => ({ statusAt: day0 + n }))
        for (const [limit, more] of [
          [3, true],
          [4, false],
          [5, false],
        ] as const) {
          const page = await store.tasks.list({ ...alicePartition, limit })
          assert.deepEqual(
            { count: page.tasks.length, more: page.more, total: page.total },
            { count: Math.min(limit, 4), more, total: 4 },
          )
        }
      }),
    )

    it(
      'are paged without loss or repetition when many tasks share one time [B-79]',
      withStore(open, async ({ store }) => {
        const tasks = await createMany(store, 17, (n) => ({ statusAt: day0 + (n % 2) }))
        const seen = idsOf(await allPages(store, { ...alicePartition, limit: 4 }))
        assert.equal(new Set(seen).size, 17)
        assert.deepEqual([...seen].sort(), [...idsOf(tasks)].sort())
      }),
    )

    it(
      'are paged without repetition, and without losing a task that stays, while others change [B-79]',
      withStore(open, async ({ store }) => {
        const tasks = await createMany(store, 20, (n) => ({ statusAt: day0 + n }))
        const moving = tasks.filter((_, n) => n % 5 === 0)
        const staying = tasks.filter((_, n) => n % 5 !== 0)
        const seen = await allPages(store, { ...alicePartition, limit: 3 }, async (page) => {
          await createTask(store, { statusAt: day0 + 100 + page })
          const task = moving[page % moving.length]
          if (page < moving.length && task) await moveTask(store, task.id, 1, 'TASK_STATE_WORKING', day0 + 200 + page)
        })
        const ids = idsOf(seen)
        assert.equal(new Set(ids).size, ids.length)
        for (const { id } of staying) assert.ok(ids.includes(id))
      }),
    )

    it(
      'continue after a task that was removed [B-79]',
      withStore(
        open,
        async ({ store }) => {
          const tasks = await createMany(store, 6, (n) => ({ statusAt: day0 + n, state: 'TASK_STATE_COMPLETED' }))
          const { tasks: first } = await store.tasks.list({ ...alicePartition, limit: 3 })
          const last = first.at(-1) as TaskRow
          await store.prune({ maxTasks: 0, batch: 100 })
          const fresh = await createMany(store, 3, (n) => ({ statusAt: day0 + n }))
          const { tasks: rest } = await store.tasks.list({
            ...alicePartition,
            limit: 3,
            before: { statusAt: last.statusAt, id: last.id },
          })
          assert.deepEqual(idsOf(rest), [...idsOf(fresh)].reverse())
          assert.equal(tasks.length, 6)
        },
        'retention',
      ),
    )

    it(
      'filter by state, context and time, combined, and count all matches [B-82 B-85]',
      withStore(open, async ({ store }) => {
        const made = await createMany(store, 36, (n) => ({
          contextId: `context-${n % 3}`,
          state: n % 2 === 0 ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_WORKING',
          statusAt: day0 + n,
        }))
        await createTask(store, {
          ...bobPartition,
          contextId: 'context-1',
          state: 'TASK_STATE_WORKING',
          statusAt: day0 + 9,
        })
        for (const contextId of [undefined, 'context-1', 'context-9']) {
          for (const state of [undefined, 'TASK_STATE_WORKING', 'TASK_STATE_FAILED'] as const) {
            for (const statusAtOrAfter of [undefined, day0 + 13, day0 + 99]) {
              const expected = made
                .filter((task) => contextId === undefined || task.contextId === contextId)
                .filter((task) => state === undefined || task.status.state === state)
                .filter((task) => statusAtOrAfter === undefined || task.statusAt >= statusAtOrAfter)
                .reverse()
              const query: ListQuery = {
                ...alicePartition,
                limit: 4,
                ...(contextId && { contextId }),
                ...(state && { state }),
                ...(statusAtOrAfter && { statusAtOrAfter }),
              }
              assert.deepEqual(idsOf(await allPages(store, query)), idsOf(expected))
              assert.equal((await store.tasks.list(query)).total, expected.length)
            }
          }
        }
      }),
    )

    it(
      'keep their totals right through every transition and removal',
      withStore(
        open,
        async ({ store }) => {
          const states = taskStates.slice(1)
          const standing = new Map<string, { state: TaskState; head: number; owner: string; agent: string }>()
          const expect = async (): Promise<void> => {
            const tasks = [...standing.values()]
            for (const owner of ['alice', 'bob']) {
              const own = tasks.filter((task) => task.owner === owner)
              const active = own.filter(({ state }) => !isTerminal(state)).length
              assert.equal(await store.tasks.countActive('acme', owner), active)
              for (const agent of ['echo', 'clock']) {
                const query = { tenant: 'acme', agent, owner, limit: 1 }
                const here = own.filter((task) => task.agent === agent)
                assert.equal((await store.tasks.list(query)).total, here.length)
                for (const state of states) {
                  const { total } = await store.tasks.list({ ...query, state })
                  assert.equal(total, here.filter((task) => task.state === state).length, `${owner} ${agent} ${state}`)
                }
              }
            }
          }
          for (let n = 0; n < 16; n += 1) {
            const fields = { owner: n % 3 === 0 ? 'bob' : 'alice', agent: n % 2 === 0 ? 'echo' : 'clock' }
            const state = states[n % states.length] as TaskState
            const task = await createTask(store, { ...fields, state, statusAt: day0 + n })
            standing.set(task.id, { ...fields, state, head: 1 })
          }
          await expect()
          for (const to of [
            'TASK_STATE_WORKING',
            'TASK_STATE_WORKING',
            'TASK_STATE_INPUT_REQUIRED',
            'TASK_STATE_COMPLETED',
          ] as const) {
            await Promise.all(
              [...standing].map(async ([id, task]) => {
                if (isTerminal(task.state)) return
                await moveTask(store, id, task.head, to, day0 + 50)
                standing.set(id, { ...task, state: to, head: task.head + 1 })
                // Refused appends must not be counted.
                await store.tasks.append(id, {
                  expectedSeq: 0,
                  records: [],
                  change: { status: taskStatusOf('TASK_STATE_FAILED'), statusAt: 1 },
                })
              }),
            )
            await expect()
          }
          assert.equal(await store.prune({ finishedBefore: day0 + 51, batch: 5 }), 5)
          const left = new Set<string>()
          for (const owner of ['alice', 'bob']) {
            for (const agent of ['echo', 'clock']) {
              for (const id of idsOf((await store.tasks.list({ tenant: 'acme', agent, owner, limit: 100 })).tasks))
                left.add(id)
            }
          }
          assert.equal(left.size, 11)
          for (const id of standing.keys()) if (!left.has(id)) standing.delete(id)
          await expect()
        },
        'retention',
      ),
    )

    it(
      'count the active tasks of an owner over all agents, in one tenant',
      withStore(open, async ({ store }) => {
        await createTask(store)
        await createTask(store, { agent: 'clock', state: 'TASK_STATE_AUTH_REQUIRED' })
        await createTask(store, { tenant: 'another' })
        await createTask(store, { ...bobPartition })
        await createFinished(store)
        assert.equal(await store.tasks.countActive('acme', 'alice'), 2)
        assert.equal(await store.tasks.countActive('acme', 'unknown'), 0)
      }),
    )

    it(
      'count the tasks of all callers by their state, without removed ones',
      withStore(
        open,
        async ({ store }) => {
          const counts = async () =>
            Object.fromEntries((await store.tasks.countStates()).map(({ state, tasks }) => [state.slice(11), tasks]))
          assert.deepEqual(await counts(), {})
          const one = await createTask(store)
          await createTask(store, { tenant: 'another', agent: 'clock', owner: 'bob' })
          await createFinished(store)
          assert.deepEqual(await counts(), { SUBMITTED: 2, COMPLETED: 1 })
          await moveTask(store, one.id, 1, 'TASK_STATE_INPUT_REQUIRED')
          assert.deepEqual(await counts(), { SUBMITTED: 1, INPUT_REQUIRED: 1, COMPLETED: 1 })
          await store.prune({ maxTasks: 2, batch: 10 })
          assert.deepEqual(await counts(), { SUBMITTED: 1, INPUT_REQUIRED: 1 })
        },
        'retention',
      ),
    )
  })

  describe('a context', () => {
    it(
      'has the tasks of one conversation in one partition, oldest first, and the newest ones if there are too many',
      withStore(open, async ({ store }) => {
        const tasks = await createMany(store, 5, (n) => ({
          contextId: 'talk',
          createdAt: day0 + n,
          statusAt: day0 + 50 - n,
        }))
        await createTask(store, { contextId: 'another talk' })
        await createTask(store, { ...bobPartition, contextId: 'talk' })
        assert.deepEqual(idsOf(await store.tasks.context(alicePartition, 'talk', 10)), idsOf(tasks))
        assert.deepEqual(idsOf(await store.tasks.context(alicePartition, 'talk', 2)), idsOf(tasks.slice(-2)))
        assert.deepEqual(await store.tasks.context(alicePartition, 'no talk', 10), [])
        const [row] = await store.tasks.context(alicePartition, 'talk', 1)
        assert.deepEqual(row, await store.tasks.load(tasks[4]?.id as string))
      }),
    )

    it(
      'follows the tasks as they change',
      withStore(open, async ({ store }) => {
        const task = await createTask(store, { contextId: 'talk' })
        await assertAppended(store, task.id, { expectedSeq: 1, records: [], change: { consumedSeq: 1 } })
        await moveTask(store, task.id, 1, 'TASK_STATE_COMPLETED', day0 + 1)
        const [row] = await store.tasks.context(alicePartition, 'talk', 5)
        assert.equal(row?.status.state, 'TASK_STATE_COMPLETED')
      }),
    )
  })
}
