/** Operator search: tasks of all callers, in a fixed order, paged without loss or repeat. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { taskStates, type TaskState } from '../../model/state.ts'
import type { NewTask, SearchQuery, Store, TaskRow } from '../../stores/store.ts'
import { type OpenStore, createTask, createFinished, day0, idsOf, moveTask, withStore } from './harness.ts'

async function allPages(store: Store, query: SearchQuery): Promise<readonly TaskRow[]> {
  const seen: TaskRow[] = []
  let before: SearchQuery['before']
  for (let page = 0; page < 100; page += 1) {
    const { tasks, more } = await store.tasks.search({ ...query, ...(before && { before }) })
    assert.ok(tasks.length <= query.limit)
    seen.push(...tasks)
    const last = tasks.at(-1)
    if (!more || last === undefined) return seen
    before = { statusAt: last.statusAt, id: last.id }
  }
  return assert.fail('the pages do not end')
}

/** Tasks of several tenants, agents and owners, in all states, some of them at the same time. */
async function createCrowd(store: Store, count: number): Promise<readonly NewTask[]> {
  const states = taskStates.slice(1)
  const tasks: NewTask[] = []
  for (let n = 0; n < count; n += 1) {
    const task = await createTask(store, {
      tenant: n % 4 === 0 ? 'acme' : '',
      agent: ['echo', 'clock', 'concierge'][n % 3] as string,
      owner: ['alice', 'bob', 'https://issuer.example|carol', 'alice'][n % 4] as string,
      contextId: `context-${n % 5}`,
      state: states[(n * 3) % states.length] as TaskState,
      statusAt: day0 + Math.floor(n / 3),
    })
    tasks.push(task)
  }
  return tasks
}

export function searchContract(open: OpenStore): void {
  describe('a search over all callers', () => {
    it(
      'has the newest status first and breaks ties by id, for any page size',
      withStore(open, async ({ store }) => {
        const tasks = await createCrowd(store, 40)
        const expected = idsOf(tasks.toSorted((a, b) => b.statusAt - a.statusAt || (a.id < b.id ? 1 : -1)))
        for (const limit of [1, 7, 39, 40, 100]) {
          assert.deepEqual(idsOf(await allPages(store, { limit })), expected)
          assert.deepEqual(idsOf(await allPages(store, { limit, order: 'oldest' })), expected.toReversed())
        }
        const { tasks: first, more } = await store.tasks.search({ limit: 40 })
        assert.equal(more, false)
        assert.deepEqual(first[0], await store.tasks.load(expected[0] as string))
        assert.deepEqual(await store.tasks.search({ agent: 'unknown', limit: 5 }), { tasks: [], more: false })
      }),
    )

    it(
      'filters by agent, owner, context, states and time, each alone and combined',
      withStore(open, async ({ store }) => {
        const tasks = await createCrowd(store, 36)
        const choices: { readonly [field: string]: readonly unknown[] } = {
          agent: [undefined, 'clock', 'none'],
          owner: [undefined, 'alice', 'https://issuer.example|carol', 'none'],
          contextId: [undefined, 'context-2'],
          states: [undefined, ['TASK_STATE_FAILED'], ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'], []],
          from: [undefined, day0 + 5],
          until: [undefined, day0 + 12],
        }
        let queries: Record<string, unknown>[] = [{}]
        for (const [field, values] of Object.entries(choices)) {
          queries = queries.flatMap((query) =>
            values.map((value) => (value === undefined ? query : { ...query, [field]: value })),
          )
        }
        for (const filter of queries as Omit<SearchQuery, 'limit'>[]) {
          const expected = tasks
            .filter((task) => filter.agent === undefined || task.agent === filter.agent)
            .filter((task) => filter.owner === undefined || task.owner === filter.owner)
            .filter((task) => filter.contextId === undefined || task.contextId === filter.contextId)
            .filter((task) => filter.states === undefined || filter.states.includes(task.status.state))
            .filter((task) => task.statusAt >= (filter.from ?? 0) && task.statusAt < (filter.until ?? Infinity))
            .sort((a, b) => b.statusAt - a.statusAt || (a.id < b.id ? 1 : -1))
          assert.deepEqual(
            idsOf(await allPages(store, { ...filter, limit: 8 })),
            idsOf(expected),
            JSON.stringify(filter),
          )
          assert.deepEqual(
            idsOf(await allPages(store, { ...filter, order: 'oldest', limit: 8 })),
            idsOf(expected.toReversed()),
            `${JSON.stringify(filter)}, oldest first`,
          )
        }
      }),
    )

    it(
      'follows changes of tasks and omits removed ones',
      withStore(
        open,
        async ({ store }) => {
          const one = await createTask(store, { agent: 'echo', statusAt: day0 })
          const two = await createTask(store, { agent: 'clock', statusAt: day0 + 1 })
          await moveTask(store, one.id, 1, 'TASK_STATE_COMPLETED', day0 + 2)
          assert.deepEqual(idsOf((await store.tasks.search({ limit: 5 })).tasks), [one.id, two.id])
          assert.deepEqual(idsOf((await store.tasks.search({ states: ['TASK_STATE_SUBMITTED'], limit: 5 })).tasks), [
            two.id,
          ])
          await store.prune({ maxTasks: 0, batch: 5 })
          assert.deepEqual(idsOf((await store.tasks.search({ limit: 5 })).tasks), [two.id])
        },
        'retention',
      ),
    )

    it(
      'names the agents that have tasks, whatever their states',
      withStore(open, async ({ store }) => {
        assert.deepEqual(await store.tasks.agents(), [])
        await createTask(store, { agent: 'echo' })
        await createTask(store, { agent: 'echo', owner: 'bob' })
        await createFinished(store, { agent: 'clock' })
        await createFinished(store, { agent: 'zoë' })
        await createTask(store, { agent: 'zoë', state: 'TASK_STATE_INPUT_REQUIRED' })
        assert.deepEqual((await store.tasks.agents()).toSorted(), ['clock', 'echo', 'zoë'])
      }),
    )

    it(
      'counts unfinished tasks by agent and state',
      withStore(open, async ({ store }) => {
        assert.deepEqual(await store.tasks.countUnfinished(), [])
        await createTask(store, { agent: 'echo' })
        await createTask(store, { agent: 'echo', owner: 'bob', tenant: 'another' })
        const moved = await createTask(store, { agent: 'clock' })
        await createFinished(store, { agent: 'clock' })
        await moveTask(store, moved.id, 1, 'TASK_STATE_INPUT_REQUIRED')
        const counts = (await store.tasks.countUnfinished()).map(({ agent, state, tasks }) => [
          agent,
          state.slice(11),
          tasks,
        ])
        assert.deepEqual(
          counts.sort(([one], [other]) => String(one).localeCompare(String(other))),
          [
            ['clock', 'INPUT_REQUIRED', 1],
            ['echo', 'SUBMITTED', 2],
          ],
        )
        for (const [prefix, tasks] of [
          ['bo', 1],
          ['b%', undefined],
        ] as const)
          assert.equal((await store.tasks.countUnfinished(prefix))[0]?.tasks, tasks)
      }),
    )

    it(
      'finds tasks by the prefix of their ids, and treats every character literally',
      withStore(open, async ({ store }) => {
        for (const id of ['ab', 'ab-1', 'ab-2', 'ac-1', 'a%', 'a_b', 'b']) await createTask(store, { id })
        const found = async (prefix: string, limit = 10) => idsOf(await store.tasks.findTasks(prefix, limit))
        assert.deepEqual(await found('ab'), ['ab-2', 'ab-1', 'ab'])
        assert.deepEqual(await found('ab', 2), ['ab-2', 'ab-1'])
        assert.deepEqual(await found('a%'), ['a%'])
        assert.deepEqual(await found('a_'), ['a_b'])
        assert.deepEqual(await found('x'), [])
        assert.equal((await found('')).length, 7)
        assert.deepEqual((await store.tasks.findTasks('ac', 1))[0], await store.tasks.load('ac-1'))
      }),
    )
  })
}
