import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  spanChildTask,
  spanError,
  spanLines,
  spanStatus,
  spanPath,
  flattenSpans,
  spanTimeRange,
  spanUsage,
  totalTimeRange,
  spanLabel,
} from './span-tree.ts'
import { hopTo, span, t0, taskOf } from './testing/spans.ts'

const model = span('model', { kind: 'model', at: [2, 5] })
const turn = span('turn', { kind: 'turn', name: 'turn 1', at: [1, 9], children: [model] })
const push = span('push', { kind: 'push', at: [11, 15] })
const root = taskOf('writer', [turn, push])

describe('the lines of a waterfall', () => {
  it('are the spans, each below its parent', () => {
    const lines = spanLines([root], new Set())
    assert.deepEqual(
      lines.map(({ span: { spanId }, depth, descendantCount }) => [spanId, depth, descendantCount]),
      [
        ['writer-task-root', 0, 3],
        ['turn', 1, 1],
        ['model', 2, 0],
        ['push', 1, 0],
      ],
    )
  })

  it('omit and count the descendants of a folded span', () => {
    const lines = spanLines([root], new Set(['turn', 'model']))
    assert.deepEqual(
      lines.map(({ span: { spanId }, isFolded }) => [spanId, isFolded]),
      [
        ['writer-task-root', false],
        ['turn', true],
        ['push', false],
      ],
    )
    assert.equal(lines[1]?.descendantCount, 1)
  })

  it('include every span of a large trace', () => {
    const children = Array.from({ length: 9_000 }, (_, n) => span(`s${n}`))
    assert.equal(flattenSpans([taskOf('busy', children)]).length, 9_001)
  })

  it('are found with their ancestors', () => {
    assert.deepEqual(
      spanPath([span('other'), root], 'model').map(({ spanId }) => spanId),
      ['writer-task-root', 'turn', 'model'],
    )
    assert.deepEqual(spanPath([root], 'none'), [])
  })
})

describe('the time range of spans', () => {
  it('ends now for a running span', () => {
    assert.deepEqual(spanTimeRange(span('x', { at: [5] }), t0 + 100), { from: t0 + 5, to: t0 + 100 })
    assert.deepEqual(spanTimeRange(span('x', { at: [5] }), t0), { from: t0 + 5, to: t0 + 5 })
  })

  it('is from the first start to the last end, webhooks included', () => {
    assert.deepEqual(totalTimeRange(flattenSpans([root]), t0), { from: t0, to: t0 + 15 })
    assert.deepEqual(totalTimeRange([], t0), { from: t0, to: t0 })
  })
})

describe('a span', () => {
  it('has a type and a name', () => {
    const said = [
      root,
      turn,
      span('t', { kind: 'turn', name: 'turn 2', attributes: { attempt: 3 } }),
      hopTo('checker'),
      span('c', { kind: 'hop', name: 'call remote', attributes: { agent: 'remote' } }),
      span('e', { kind: 'tool', name: 'execute_tool search' }),
      span('m', { kind: 'model', name: 'chat m', attributes: { 'gen_ai.request.model': 'm-1' } }),
      span('p', { kind: 'push', name: 'push', attributes: { said: 'HTTP 200' } }),
      span('look it up'),
    ].map((one) => Object.values(spanLabel(one)).join(' ').trim())
    assert.deepEqual(said, [
      'task writer',
      'turn 1',
      'turn 2, attempt 3',
      'delegate checker',
      'call remote',
      'tool search',
      'model m-1',
      'push HTTP 200',
      'look it up',
    ])
  })

  it('has a colour, a shape and a word for its status', () => {
    const asks = { at: [0] as const, attributes: { state: 'TASK_STATE_INPUT_REQUIRED' } }
    assert.deepEqual(
      [
        span('a', { at: [0] }),
        taskOf('b', [], asks),
        span('c'),
        span('d', { outcome: 'error' }),
        span('e', { outcome: 'canceled' }),
      ].map((one) => spanStatus(one).tone),
      ['working', 'waiting', 'done', 'failed', 'ended'],
    )
  })

  it('has its usage, its error and its child task', () => {
    const used = {
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 'many',
      'gen_ai.usage.cost': 0.25,
    }
    assert.deepEqual(spanUsage(span('m', { attributes: used })), { inputTokens: 12, outputTokens: 0, cost: 0.25 })
    assert.equal(spanError(span('m', { outcome: 'error', attributes: { 'error.type': 'TIMEOUT' } })), 'TIMEOUT')
    assert.equal(spanError(span('p', { kind: 'push', outcome: 'error', attributes: { said: 'HTTP 500' } })), 'HTTP 500')
    assert.equal(spanError(span('m', { attributes: { error: 'old news' } })), undefined)
    assert.equal(spanChildTask(hopTo('checker', [taskOf('checker')])), 'checker-task')
    assert.equal(spanChildTask(root), undefined)
  })
})
