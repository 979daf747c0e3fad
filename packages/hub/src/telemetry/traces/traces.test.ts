import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fail, inputRequired, type Agent, type Turn } from '@parley/a2a'
import { spanIdOfPush, traceIdOfTask } from '@parley/a2a/internal'
import type { TraceNode } from './trace-types.ts'
import { contextFor, eventually, openTracedServer } from '../testing/traced-server.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

/** `task a (turn 1 (hop b))`: the nesting of spans. */
function shape({ name, children }: TraceNode): string {
  return children.length === 0 ? name : `${name} (${children.map(shape).join(', ')})`
}

describe('a list of traces', () => {
  const agents: Readonly<Record<string, Agent>> = {
    good: () => 'fine',
    bad: () => fail('The printer is on fire'),
    asks: () => inputRequired('?'),
    slow: async ({ span }: Turn) => {
      const tool = span('execute_tool search', { kind: 'tool', attributes: { 'gen_ai.tool.name': 'web_search' } })
      await new Promise((resolve) => setTimeout(resolve, 30))
      tool.end()
      return 'done'
    },
  }

  it('is newest first, with what each came to, page by page [S4-18]', async (t) => {
    const server = await openTracedServer(t, agents)
    const tasks = [await server.send('good'), await server.send('bad'), await server.send('asks')]
    const first = await server.traces.list({ limit: 2 })
    const second = await server.traces.list({ limit: 2, before: first.before })
    assert.deepEqual(
      [...first.traces, ...second.traces].map(({ taskId, agent, state, status, error }) => [
        taskId,
        agent,
        state.slice(11),
        status,
        error,
      ]),
      [
        [tasks[2]?.id, 'asks', 'INPUT_REQUIRED', 'PENDING', undefined],
        [tasks[1]?.id, 'bad', 'FAILED', 'ERROR', 'The printer is on fire'],
        [tasks[0]?.id, 'good', 'COMPLETED', 'SUCCESS', undefined],
      ],
    )
    assert.equal(second.before, undefined)
  })

  it('finds by agent, caller, state, status, conversation, time, duration and words', async (t) => {
    const server = await openTracedServer(t, agents)
    const good = await server.send('good', { caller: { id: 'bob' } })
    const bad = await server.send('bad')
    const slow = await server.send('slow')
    const found = async (query: object) =>
      (await server.traces.list({ limit: 10, ...query })).traces.map(({ taskId }) => taskId)
    const [whenBad] = (await server.traces.list({ limit: 1, agent: 'bad' })).traces
    assert.deepEqual(await found({ agent: 'bad' }), [bad.id])
    assert.deepEqual(await found({ caller: 'bob' }), [good.id])
    assert.deepEqual(await found({ state: 'TASK_STATE_FAILED' }), [bad.id])
    assert.deepEqual(await found({ status: 'SUCCESS' }), [slow.id, good.id])
    assert.deepEqual(await found({ contextId: good.contextId }), [good.id])
    assert.deepEqual(await found({ since: whenBad?.startedAt, until: whenBad?.startedAt, agent: 'bad' }), [bad.id])
    assert.deepEqual(await found({ since: Date.now() + 60_000 }), [])
    assert.deepEqual(await found({ minDurationMs: 20 }), [slow.id])
    assert.deepEqual(await found({ text: 'PRINTER' }), [bad.id])
    assert.deepEqual(await found({ text: 'web_sear' }), [slow.id])
    assert.deepEqual(await found({ text: slow.id.slice(0, -1) }), [slow.id])
    assert.deepEqual(await found({ tenant: 'acme' }), [])
  })

  it('adds up where the time of the ended tasks of an agent went, as the trace of each has it', async (t) => {
    const server = await openTracedServer(t, agents)
    const tasks = [await server.send('slow'), await server.send('slow')]
    await server.send('good')
    const range = { since: 0, until: Date.now() + 1_000 }
    const { times, tasks: read, isCut } = await server.traces.times({ agent: 'slow', ...range })
    assert.deepEqual([read, isCut], [2, false])
    assert.ok(times.toolsMs >= 58, `${times.toolsMs} ms`)
    const own = await Promise.all(tasks.map(async ({ id }) => (await server.traces.get(id))[0]?.times.toolsMs ?? 0))
    assert.equal(
      own.reduce((sum, ms) => sum + ms),
      times.toolsMs,
    )
    assert.equal((await server.traces.times({ agent: 'slow', since: 0, until: 1 })).tasks, 0)
  })

  it('has no trace of a task that is gone, nor anything of what was said', async (t) => {
    const server = await openTracedServer(t, { echo: ({ text }) => text })
    await server.send('echo', { text: 'hunter2' })
    assert.doesNotMatch(JSON.stringify(await server.traces.list({ limit: 10 })), /hunter2/)
    await server.store.prune({ finishedBefore: Date.now() + 1, batch: 10 })
    assert.deepEqual(await server.traces.list({ limit: 10 }), { traces: [] })
  })
})

describe('a trace', () => {
  it('is found by its task, and by its id, also one that the caller chose; a trace may have several roots [S4-16 S4-18]', async (t) => {
    const server = await openTracedServer(t, { a: () => 'x' })
    const untraced = await server.send('a')
    const first = await server.send('a', { traceparent })
    const second = await server.send('a', { traceparent })
    const roots = async (id: string) => (await server.traces.get(id)).map(({ summary }) => summary.taskId)
    assert.deepEqual(await roots(untraced.id), [untraced.id])
    assert.deepEqual(await roots(traceIdOfTask(untraced.id)), [untraced.id])
    assert.deepEqual(await roots(traceId), [first.id, second.id])
    assert.deepEqual(await roots(traceIdOfTask(first.id)), [first.id])
    assert.deepEqual(await roots('f'.repeat(32)), [])
    assert.deepEqual(await roots('nonsense'), [])
  })

  it('has the tasks of other agents below the calls that made them, each with its own turns and tools [S2-12 S4-21]', async (t) => {
    const agents: Record<string, Agent> = {
      child: ({ span }: Turn) => (span('execute_tool add', { kind: 'tool' }).end(), 'x'),
      async parent(turn: Turn) {
        const hop = turn.span('hop child', { kind: 'hop' })
        const child = await server.send('child', {
          caller: { id: `agent:parent|${turn.caller.id}` },
          referenceTaskIds: [turn.task.id],
          traceparent: hop.traceparent,
        })
        hop.end('ok', { childTaskId: child.id })
        return 'done'
      },
    }
    const server = await openTracedServer(t, agents)
    const { id } = await server.send('parent')
    const [trace] = await server.traces.get(id)
    assert.ok(trace)
    assert.equal(
      shape(trace.root),
      'invoke_agent parent (turn 1 (hop child (invoke_agent child (turn 1 (execute_tool add)))))',
    )
    assert.deepEqual([trace.summary.tasks, trace.summary.agents, trace.isPartial], [2, ['parent', 'child'], false])
    const traceIds = new Set<string>()
    const visit = (node: TraceNode): void => {
      traceIds.add(node.traceId)
      for (const child of node.children) {
        assert.equal(child.parentId, node.spanId)
        visit(child)
      }
    }
    visit(trace.root)
    assert.deepEqual([...traceIds], [traceIdOfTask(id)])
  })

  it('shows a running call: the child is listed before its parent knows how it ends', async (t) => {
    const gate = Promise.withResolvers<void>()
    const server = await openTracedServer(t, {
      child: () => gate.promise.then(() => 'x'),
      parent: async (turn: Turn) => {
        const hop = turn.span('hop child', { kind: 'hop' })
        const caller = { id: `agent:parent|${turn.caller.id}` }
        await server.send('child', { caller, referenceTaskIds: [turn.task.id], traceparent: hop.traceparent })
        return 'done'
      },
    })
    const { id } = await server.send('parent', { returnImmediately: true })
    const shown = async () => shape((await server.traces.get(id))[0]?.root as TraceNode)
    await eventually(async () => (await shown()).includes('child'))
    assert.equal(await shown(), 'invoke_agent parent (turn 1 (invoke_agent child (turn 1)))')
    gate.resolve()
  })

  it('has the webhook attempts, each with its result', async (t) => {
    let failures = 1
    const server = await openTracedServer(
      t,
      { a: () => 'x' },
      {
        push: {
          fetch: async () => new Response(null, { status: failures-- > 0 ? 503 : 204 }),
          scheduleMs: [1, 1],
          triggers: 'significant',
        },
      },
    )
    const { id } = await server.send('a', { webhook: 'https://hooks.example.com/x', traceparent })
    const pushes = async () =>
      ((await server.traces.get(id))[0]?.root.children ?? []).filter(({ kind }) => kind === 'push')
    await eventually(async () => (await pushes()).length >= 4)
    const [first, second] = await pushes()
    assert.deepEqual(
      [first?.outcome, first?.attributes['said'], first?.traceId, second?.outcome],
      ['error', 'HTTP 503', traceId, 'ok'],
    )
    assert.equal(first?.spanId, spanIdOfPush(id, 'hook', Number(first?.attributes['seq']), first?.startedAt ?? 0))
  })

  it('says what it still knows where the log was dropped', async (t) => {
    const server = await openTracedServer(t, { a: ({ span }: Turn) => (span('x', { kind: 'tool' }).end(), 'done') })
    const { id } = await server.send('a')
    await server.traces.get(id)
    const task = await server.engine.getTask({ id }, contextFor('a'))
    await server.store.tasks.saveSnapshot(id, { seq: 100, task, internal: {} })
    await server.store.prune({ logBefore: Date.now() + 1, batch: 10 })
    const [trace] = await server.traces.get(id)
    assert.deepEqual([trace?.isPartial, trace?.root.outcome, trace?.root.children], [true, 'ok', []])
    assert.equal(trace?.summary.spans, 1)
  })
})
