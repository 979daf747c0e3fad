import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fail, inputRequired, type Turn } from '@parley/a2a'
import { spanIdOfEvent, spanIdOfTurn, traceIdOfTask } from '@parley/a2a/internal'
import type { LogRecord, RecordBody } from '@parley/a2a/stores'
import type { TraceSpan } from './trace-types.ts'
import { TaskTrace } from './task-trace.ts'
import { openTracedServer } from '../testing/traced-server.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
const partition = { agent: 'a', tenant: '', owner: 'ann' }

function traced(records: readonly LogRecord[], owner = 'ann') {
  const ended: TraceSpan[] = []
  const trace = new TaskTrace('t1', { ...partition, owner }, (span) => void ended.push(span))
  for (const record of records) trace.add(record)
  return { trace, ended }
}

/** One record per millisecond. */
function log(...bodies: readonly RecordBody[]): readonly LogRecord[] {
  return bodies.map((body, index) => ({ seq: index + 1, at: 1_000 + index, body }))
}

const message = (options?: object): RecordBody => ({
  type: 'message',
  message: { messageId: 'm1', role: 'ROLE_USER', contextId: 'c1', parts: [{ text: 'hunter2' }] },
  ...(options !== undefined ? { options } : {}),
})
const began = (turn = 1, attempt = 1, consumedSeq = 1): RecordBody => ({
  type: 'turn-started',
  turn,
  attempt,
  consumedSeq,
})
const reached = (state: string, text?: string): RecordBody => ({
  type: 'status',
  status: {
    state: `TASK_STATE_${state}` as 'TASK_STATE_WORKING',
    ...(text !== undefined ? { message: { messageId: 'x', role: 'ROLE_AGENT', parts: [{ text }] } } : {}),
  },
})

describe('the log of a task as spans', () => {
  it('has the task at its root, with its state, its idempotency key and who called [S4-16 S2-31]', async (t) => {
    const server = await openTracedServer(t, { greeter: () => 'hello' })
    const { id, contextId } = await server.send('greeter', { traceparent })
    await server.index.refresh()
    const root = server.ended.find(({ kind }) => kind === 'task')
    assert.ok(root)
    assert.deepEqual(
      [root.traceId, root.spanId, root.parentId, root.outcome],
      [traceId, spanIdOfEvent(id, 0), '00f067aa0ba902b7', 'ok'],
    )
    const { idempotencyKey, ...attributes } = root.attributes
    assert.match(String(idempotencyKey), /^[\da-f-]{36}$/)
    assert.deepEqual(attributes, {
      type: 'A2A_TASK',
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'greeter',
      'gen_ai.conversation.id': contextId,
      taskId: id,
      caller: 'ann',
      state: 'TASK_STATE_COMPLETED',
    })
  })

  it('has turns that begin with their message, or with the end of the turn before, not with the first output', () => {
    const { ended } = traced(
      log(message(), reached('SUBMITTED'), began(), message(), { type: 'turn-ended', turn: 1 }, began(2, 1, 4)),
    )
    const { trace } = traced(log(message(), reached('SUBMITTED'), began(), { type: 'turn-ended', turn: 1 }))
    assert.deepEqual([ended[0]?.name, ended[0]?.startedAt, ended[0]?.endedAt], ['turn 1', 1_000, 1_004])
    trace.add({ seq: 5, at: 2_000, body: message() })
    trace.add({ seq: 6, at: 2_500, body: began(2, 1, 5) })
    assert.equal(trace.unfinished().find(({ kind }) => kind === 'turn')?.startedAt, 2_000)
  })

  it('has each turn below the task, and what was logged in it as its events, without what was said [S2-31]', async (t) => {
    const server = await openTracedServer(t, {
      asker: ({ text }) => (text === 'go' ? inputRequired('my secret question') : 'my secret answer'),
    })
    const { id } = await server.send('asker')
    await server.send('asker', { taskId: id, text: 'hunter2' })
    await server.index.refresh()
    const turns = server.ended.filter(({ kind }) => kind === 'turn')
    assert.deepEqual(
      turns.map(({ spanId, parentId, name, attributes: { turn, state } }) => [spanId, parentId, name, turn, state]),
      [
        [spanIdOfTurn(id, 1, 1), spanIdOfEvent(id, 0), 'turn 1', 1, 'TASK_STATE_INPUT_REQUIRED'],
        [spanIdOfTurn(id, 2, 1), spanIdOfEvent(id, 0), 'turn 2', 2, 'TASK_STATE_COMPLETED'],
      ],
    )
    assert.deepEqual(
      turns.map(({ events }) => events.map(({ name }) => name)),
      [['status'], ['status', 'artifact', 'status']],
    )
    const events = server.ended.flatMap((span) => span.events)
    assert.ok(events.every(({ spanId, seq }) => spanId === spanIdOfEvent(id, seq)))
    assert.doesNotMatch(JSON.stringify(server.ended), /secret|hunter2/)
  })

  it('has what the agent reported below its turn, begun no earlier than its turn', async (t) => {
    const server = await openTracedServer(t, {
      async *worker({ span }: Turn) {
        const tool = span('execute_tool search', { kind: 'tool', attributes: { 'gen_ai.tool.name': 'search' } })
        await new Promise((resolve) => setTimeout(resolve, 5))
        span('chat m', { kind: 'model', parent: tool }).end('error')
        tool.end()
        yield 'done'
      },
    })
    const { id } = await server.send('worker')
    await server.index.refresh()
    const [model, tool, turn, root] = server.ended
    assert.deepEqual(
      [model, tool, turn, root].map((span) => [span?.kind, span?.parentId]),
      [
        ['model', tool?.spanId],
        ['tool', turn?.spanId],
        ['turn', root?.spanId],
        ['task', undefined],
      ],
    )
    assert.ok(root && turn && tool && model)
    assert.ok(root.startedAt <= turn.startedAt && turn.startedAt <= tool.startedAt && tool.startedAt <= model.startedAt)
    assert.deepEqual([model.outcome, model.attributes], ['error', { taskId: id }])
  })

  it('is in the trace of its caller; a turn for another trace is included, and linked', () => {
    const other = '0af7651916cd43dd8448eb211c80319c'
    const { ended } = traced(
      log(
        message({ traceparent }),
        began(),
        reached('INPUT_REQUIRED'),
        message({ traceparent: `00-${other}-b7ad6b7169203331-00` }),
        began(2, 1, 4),
        reached('INPUT_REQUIRED'),
        message(),
        began(3, 1, 7),
        reached('COMPLETED'),
      ),
    )
    assert.deepEqual(
      ended.map((span) => [span.name, span.traceId, span.parentId, span.isSampled, span.link?.traceId]),
      [
        ['turn 1', traceId, spanIdOfEvent('t1', 0), true, undefined],
        ['turn 2', other, 'b7ad6b7169203331', false, traceId],
        ['turn 3', traceId, spanIdOfEvent('t1', 0), true, undefined],
        ['invoke_agent a', traceId, '00f067aa0ba902b7', true, undefined],
      ],
    )
  })

  it('goes on with a turn that asks in the middle, until it ends', () => {
    const asked: RecordBody = { type: 'question', questionId: 'q', turn: 1 }
    const answered: RecordBody = { type: 'answer', questionId: 'q', messageSeq: 5 }
    const { trace, ended } = traced(log(message(), began(), asked, reached('INPUT_REQUIRED')))
    assert.deepEqual([ended.length, trace.unfinished().map(({ kind }) => kind)], [0, ['turn', 'task']])
    const rest = log(message(), began(), asked, reached('INPUT_REQUIRED'), message(), answered, reached('COMPLETED'))
    for (const record of rest) trace.add(record)
    assert.deepEqual(
      ended.map(({ name, endedAt }) => [name, endedAt]),
      [
        ['turn 1', 1_006],
        ['invoke_agent a', 1_006],
      ],
    )
  })

  it('says of a turn that a crash interrupted how far it came, and has the next try beside it', () => {
    const { ended } = traced(
      log(message({ traceparent }), began(), reached('WORKING'), began(1, 2), reached('COMPLETED')),
    )
    assert.deepEqual(
      ended.map(({ name, spanId, outcome, endedAt, attributes }) => [
        name,
        spanId,
        outcome,
        endedAt,
        attributes['interrupted'],
        attributes['messageId'],
      ]),
      [
        ['turn 1', spanIdOfTurn('t1', 1, 1), 'error', 1_002, true, 'm1'],
        ['turn 1', spanIdOfTurn('t1', 1, 2), 'ok', 1_004, undefined, 'm1'],
        ['invoke_agent a', spanIdOfEvent('t1', 0), 'ok', 1_004, undefined, undefined],
      ],
    )
  })

  it('ends as its task ends, also where messages are dropped with the turn', () => {
    const dropped: RecordBody = { type: 'turn-ended', turn: 1, consumedSeq: 2 }
    const { trace, ended } = traced(log(message(), began(), dropped, reached('FAILED', 'The model is away')))
    assert.deepEqual(
      ended.map(({ name, outcome, attributes: { error } }) => [name, outcome, error]),
      [
        ['turn 1', 'error', 'The model is away'],
        ['invoke_agent a', 'error', 'The model is away'],
      ],
    )
    assert.deepEqual([trace.error, trace.totals.errors], ['The model is away', 1])
    assert.equal(traced(log(message(), began(), reached('CANCELED'))).ended.at(-1)?.outcome, 'canceled')
    assert.equal(traced(log(message(), began(), reached('REJECTED', 'No'))).ended.at(-1)?.outcome, 'error')
  })

  it('shows what goes on with what is known so far', () => {
    const { trace } = traced(log(message(), began(), reached('WORKING')))
    const [turn, root] = trace.unfinished()
    assert.deepEqual([turn?.kind, turn?.endedAt, turn?.outcome], ['turn', undefined, undefined])
    assert.deepEqual([root?.attributes['state'], root?.endedAt], ['TASK_STATE_WORKING', undefined])
  })

  it('keeps the first and the last of many events, and says how many there were', () => {
    const chunk: RecordBody = { type: 'artifact', append: true, artifact: { artifactId: 'a', parts: [{ text: 'x' }] } }
    const { ended } = traced(
      log(message(), began(), ...Array.from({ length: 1_000 }, () => chunk), reached('COMPLETED')),
    )
    const [turn] = ended
    assert.equal(turn?.events.length, 128)
    assert.equal((turn?.droppedEvents ?? 0) + 128, 1_001)
    assert.deepEqual([turn?.events[0]?.seq, turn?.events.at(-1)?.name], [3, 'status'])
  })

  it('adds up what models used and cost, and names them and the tools', () => {
    const span = (kind: 'model' | 'tool', attributes: object): RecordBody => ({
      type: 'span',
      span: {
        spanId: '1'.repeat(16),
        parentId: '2'.repeat(16),
        name: 'x',
        kind,
        startedAt: 990,
        endedAt: 999,
        outcome: 'ok',
        attributes: { ...attributes },
      },
    })
    const used = (input: number, cost: number) => ({
      'gen_ai.response.model': 'm-1',
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cost': cost,
    })
    const { trace, ended } = traced(
      log(
        message(),
        began(),
        span('model', used(10, 0.1)),
        span('tool', { 'gen_ai.tool.name': 'search' }),
        span('model', used(20, 0.2)),
        reached('COMPLETED'),
      ),
    )
    assert.deepEqual(trace.totals.totals, {
      turns: 1,
      spans: 3,
      errors: 0,
      inputTokens: 30,
      outputTokens: 10,
      cost: 0.3,
    })
    assert.deepEqual([[...trace.totals.models], [...trace.totals.tools]], [['m-1'], ['search']])
    assert.equal(ended.at(-1)?.attributes['gen_ai.usage.cost'], 0.3)
    assert.equal(trace.startedAt, 990)
  })

  it('says on whose behalf an agent made it, as the hub itself named it [S4-16 S4-21]', () => {
    const asked: RecordBody = {
      type: 'message',
      message: { messageId: 'm', role: 'ROLE_USER', parts: [], referenceTaskIds: ['parent'] },
    }
    const { trace } = traced(log(asked), 'agent:b|agent:a|ann')
    assert.deepEqual(trace.delegation, { parentTaskId: 'parent', depth: 2, visited: ['a', 'b'] })
    const chain = { root: 'r', parent: 'p', visited: ['hub#x', 'hub#y'], subject: 's', tasks: 3, scopes: [] }
    const delegated: RecordBody = {
      type: 'message',
      message: { messageId: 'm', role: 'ROLE_USER', parts: [], referenceTaskIds: ['another'] },
      options: { provenance: chain },
    }
    const known = { parentTaskId: 'p', rootTaskId: 'r', depth: 2, visited: ['hub#x', 'hub#y'] }
    assert.deepEqual(traced(log(delegated), 'agent:y|ann').trace.delegation, known)
    // A caller that is not an agent cannot claim to be called by one.
    assert.equal(traced(log(asked), 'mallory').trace.delegation, undefined)
  })

  it('begins with what is left of a log whose beginning was dropped', () => {
    const { trace, ended } = traced([{ seq: 7, at: 5, body: reached('COMPLETED') }])
    assert.deepEqual([trace.traceId, ended.map(({ kind }) => kind)], [traceIdOfTask('t1'), ['task']])
  })

  it('of an agent that fails shows it to the operator', async (t) => {
    const server = await openTracedServer(t, { bad: () => fail('Upstream is down') })
    await server.send('bad')
    await server.index.refresh()
    assert.deepEqual(
      server.ended.map(({ kind, outcome, attributes: { error } }) => [kind, outcome, error]),
      [
        ['turn', 'error', 'Upstream is down'],
        ['task', 'error', 'Upstream is down'],
      ],
    )
  })
})
