import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inputRequired, memoryStore, type Agent, type Turn } from '@parley/a2a'
import type { FullStore, KeyValueStore } from '@parley/a2a/stores'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import type { TraceSpan } from './trace-types.ts'
import { createTraceIndex } from './trace-index.ts'
import { traceIndexKind } from './trace-summary.ts'
import { eventually, openTracedServer, silentLog } from '../testing/traced-server.ts'

const paying: Agent = ({ span }: Turn) => {
  span('chat m', {
    kind: 'model',
    attributes: {
      'gen_ai.response.model': 'm',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 2,
      'gen_ai.usage.cost': 0.5,
    },
  }).end()
  return 'done'
}
const rootsOf = (spans: readonly TraceSpan[]) => spans.filter(({ kind }) => kind === 'task').map(({ taskId }) => taskId)

describe('the index of traces', () => {
  it('reads appended records soon after it is woken', async (t) => {
    const server = await openTracedServer(t, { a: () => 'x' }, { index: { times: { soonMs: 1, idleMs: 60_000 } } })
    await eventually(async () => (await server.store.kv.read(traceIndexKind, 'cursor')) === undefined)
    const { id } = await server.send('a')
    server.index.wake()
    await eventually(() => rootsOf(server.ended).includes(id))
  })

  it('reads no log back that this process appended, and writes one entry for an ended task', async (t) => {
    const store = sqliteStore(':memory:')
    const reads: string[] = []
    const writes: (readonly string[])[] = []
    const observed: FullStore = {
      ...store,
      tasks: { ...store.tasks, read: (...query) => (reads.push('log'), store.tasks.read(...query)) },
      feed: { ...store.feed, read: (...query) => (reads.push('feed'), store.feed.read(...query)) },
    }
    const kv: KeyValueStore = {
      ...store.kv,
      writeAll(kind, all) {
        writes.push(all.map(({ key }) => key))
        return store.kv.writeAll(kind, all)
      },
    }
    const server = await openTracedServer(t, { a: () => 'x' }, { store, index: { store: observed, kv } })
    // Begins with the store: what is in it is not known.
    await server.send('a')
    await server.index.refresh()
    assert.deepEqual(reads, ['feed', 'log'])
    reads.length = 0
    const tasks = [await server.send('a'), await server.send('a')]
    await server.index.refresh()
    assert.ok(!reads.includes('log'))
    assert.deepEqual(writes.at(-1), [...tasks.map(({ id }) => `root/${id}`), 'cursor'])
    const { traces } = await server.traces.list({ limit: 10 })
    assert.deepEqual(
      traces.slice(0, 2).map((trace) => [trace.taskId, trace.turns, trace.tasks, trace.agents, trace.models]),
      tasks.map(({ id }) => [id, 1, 1, ['a'], []]).reverse(),
    )
  })

  it('looks now and then by itself: others write to the same store', async (t) => {
    const server = await openTracedServer(t, { a: () => 'x' }, { index: { times: { soonMs: 1, idleMs: 2 } } })
    const { id } = await server.send('a')
    await eventually(() => rootsOf(server.ended).includes(id))
  })

  it('resumes after a restart: nothing is missed, and nothing is reported twice', async (t) => {
    const server = await openTracedServer(t, { asker: ({ text }) => (text === 'go' ? inputRequired('?') : 'x') })
    const first = await server.send('asker')
    const second = await server.send('asker')
    await server.index.close()
    const before = server.ended.length
    await server.send('asker', { taskId: first.id, text: 'answer' })
    const third = await server.send('asker')
    const again: TraceSpan[] = []
    const { store } = server
    const ended = (span: TraceSpan): void => void again.push(span)
    const index = createTraceIndex({ store, kv: store.kv, log: silentLog, now: Date.now, onSpanEnded: ended })
    t.after(() => index.close())
    await index.refresh()
    assert.equal(before, 2)
    assert.deepEqual(
      again.map(({ taskId, name }) => [taskId, name]),
      [
        [first.id, 'turn 2'],
        [first.id, 'invoke_agent asker'],
        [third.id, 'turn 1'],
      ],
    )
    const listed = await server.traces.list({ limit: 10 })
    assert.deepEqual(
      listed.traces.map(({ taskId, turns }) => [taskId, turns]),
      [
        [third.id, 1],
        [second.id, 1],
        [first.id, 2],
      ],
    )
  })

  it('is kept by one of several processes at a time, and the next goes on when that is gone', async (t) => {
    let now = Date.now()
    const clock = { now: () => now }
    const store = memoryStore({ leaseTtlMs: 1_000, ...clock })
    const server = await openTracedServer(t, { a: () => 'x' }, { store, index: clock })
    const theirs: TraceSpan[] = []
    const ended = (span: TraceSpan): void => void theirs.push(span)
    const other = createTraceIndex({ store, kv: store.kv, log: silentLog, ...clock, onSpanEnded: ended })
    t.after(() => other.close())
    await server.index.refresh()
    await other.refresh()
    const first = await server.send('a')
    await other.refresh()
    await server.index.refresh()
    await other.refresh()
    assert.deepEqual([rootsOf(server.ended), rootsOf(theirs)], [[first.id], []])
    // It does not come back, and its lease expires.
    now += 60_000
    const second = await server.send('a')
    await other.refresh()
    assert.deepEqual(rootsOf(theirs), [second.id])
    await server.index.refresh()
    assert.deepEqual(rootsOf(server.ended), [first.id])
    // A process that closes releases the lease.
    await other.close()
    const third = await server.send('a')
    await server.index.refresh()
    assert.deepEqual(rootsOf(server.ended), [first.id, third.id])
  })

  it('catches up when its entries can be written again, and counts nothing twice', async (t) => {
    const store = memoryStore()
    let isDown = true
    const kv: KeyValueStore = {
      ...store.kv,
      writeAll: async (kind, all) => (isDown ? Promise.reject(new Error('down')) : store.kv.writeAll(kind, all)),
    }
    const lines: string[] = []
    const log = { ...silentLog, warn: (message: string) => void lines.push(message) }
    const server = await openTracedServer(t, { a: paying }, { store, index: { kv, log } })
    await server.send('a')
    await server.index.refresh()
    await server.index.refresh()
    isDown = false
    await server.index.refresh()
    const { traces } = await server.traces.list({ limit: 10 })
    assert.deepEqual(
      traces.map(({ inputTokens, cost, tasks, turns }) => [inputTokens, cost, tasks, turns]),
      [[10, 0.5, 1, 1]],
    )
    assert.deepEqual([lines.length, rootsOf(server.ended).length], [1, 1])
  })

  it('reads a store that existed before it, without reporting what ended long ago', async (t) => {
    const store = memoryStore()
    const server = await openTracedServer(t, { a: () => 'x' }, { store })
    await server.index.close()
    for (let n = 0; n < 450; n += 1) await server.send('a')
    const late: TraceSpan[] = []
    const ended = (span: TraceSpan): void => void late.push(span)
    const times = { pauseMs: 0 }
    const index = createTraceIndex({
      store,
      kv: store.kv,
      log: silentLog,
      now: () => Date.now() + 600_000,
      onSpanEnded: ended,
      times,
    })
    t.after(() => index.close())
    await index.refresh()
    assert.equal((await store.kv.list(traceIndexKind, { prefix: 'root/', limit: 1_000 })).length, 450)
    assert.equal(late.length, 0)
  })

  it('adds what the tasks of other agents used to the root that led to them, however deep [S4-21]', async (t) => {
    const server = await openTracedServer(t, { a: paying, b: paying, c: paying })
    const root = await server.send('a')
    const below = async (agent: string, owner: string, parent: string) =>
      server.send(agent, { caller: { id: owner }, referenceTaskIds: [parent] })
    const child = await below('b', 'agent:a|ann', root.id)
    await server.index.refresh()
    const deep = await below('c', 'agent:b|agent:a|ann', child.id)
    await server.index.refresh()
    const { traces } = await server.traces.list({ limit: 10 })
    assert.deepEqual(
      traces.map(({ taskId, tasks, agents, inputTokens, cost, spans }) => ({
        taskId,
        tasks,
        agents,
        inputTokens,
        cost,
        spans,
      })),
      [{ taskId: root.id, tasks: 3, agents: ['a', 'b', 'c'], inputTokens: 30, cost: 1.5, spans: 3 }],
    )
    const [tree] = await server.traces.get(child.id)
    assert.deepEqual(tree?.summary.delegationContext, { parentTaskId: root.id, depth: 1, visited: ['a'] })
    assert.equal((await server.traces.get(deep.id))[0]?.summary.inputTokens, 10)
  })

  it('moves a child below a parent that came later, with all that it led to; one whose parent never comes stays', async (t) => {
    const server = await openTracedServer(t, { a: paying, b: paying, c: paying })
    const orphan = await server.send('b', { caller: { id: 'agent:a|ann' }, referenceTaskIds: ['missing'] })
    const gate = Promise.withResolvers<void>()
    const { engine } = server
    assert.ok(engine)
    // The ids are made here, because the parent's id is known before it is in the log.
    const parent = Promise.withResolvers<string>()
    const slow = await openTracedServer(t, {
      parent: async (turn: Turn) => {
        parent.resolve(turn.task.id)
        await gate.promise
        return 'done'
      },
      child: paying,
      grandchild: paying,
    })
    const sending = slow.send('parent')
    const parentId = await parent.promise
    const child = await slow.send('child', { caller: { id: 'agent:parent|ann' }, referenceTaskIds: [parentId] })
    const owner = { id: 'agent:child|agent:parent|ann' }
    const grandchild = await slow.send('grandchild', { caller: owner, referenceTaskIds: [child.id] })
    const listed = async () =>
      (await slow.traces.list({ limit: 10 })).traces.map(({ taskId, tasks, inputTokens }) => [
        taskId,
        tasks,
        inputTokens,
      ])
    assert.deepEqual(await listed(), [[child.id, 2, 20]])
    gate.resolve()
    await sending
    assert.deepEqual(await listed(), [[parentId, 3, 20]])
    assert.equal((await slow.traces.get(parentId))[0]?.summary.tasks, 3)
    assert.equal((await slow.traces.get(grandchild.id)).length, 1)
    assert.deepEqual(
      (await server.traces.list({ limit: 10 })).traces.map(({ taskId }) => taskId),
      [orphan.id],
    )
  })

  it('forgets the traces of tasks that went because there were too many', async (t) => {
    const server = await openTracedServer(t, { a: () => 'x' }, { index: { times: { sweepMs: 0 } } })
    const ids: string[] = []
    for (let n = 0; n < 3; n += 1)
      ids.push((await server.send('a', { traceparent: `00-${'ab'.repeat(16)}-00f067aa0ba902b7-01` })).id)
    await server.index.refresh()
    assert.equal((await server.store.kv.list(traceIndexKind, { limit: 100 })).length, 7)
    await server.store.prune({ maxTasks: 1, batch: 10 })
    await server.index.refresh()
    const left = (await server.store.kv.list(traceIndexKind, { limit: 100 })).map(({ key }) => key)
    assert.deepEqual(left, ['cursor', `root/${ids[2]}`, `trace/${'ab'.repeat(16)}/${ids[2]}`])
  })

  it('does not grow with what a busy store prunes: old entries are deleted as new ones arrive', async (t) => {
    const store = memoryStore({ maxTasks: 200, pruneBatch: 10 })
    const server = await openTracedServer(t, { a: () => 'x' }, { store, index: { times: { pauseMs: 0 } } })
    for (let round = 0; round < 25; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => server.send('a')))
      await server.index.refresh()
    }
    const left = await store.kv.list(traceIndexKind, { prefix: 'root/', limit: 10_000 })
    assert.ok(left.length < 1_000, `${left.length} entries are left`)
  })

  it('keeps the entry of a task as long as the task is kept', async (t) => {
    const server = await openTracedServer(t, { a: () => 'x' }, { index: { retentionMs: 30 } })
    await server.send('a')
    await server.index.refresh()
    await eventually(
      async () => (await server.store.kv.list(traceIndexKind, { prefix: 'root/', limit: 1 })).length === 0,
    )
  })
})
