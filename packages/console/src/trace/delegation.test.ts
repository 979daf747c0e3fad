import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { delegationOf } from './delegation.ts'
import { hopTo, span, t0, taskOf } from './testing/spans.ts'

const checkerOf = (n: number) =>
  taskOf('checker', [], { taskId: `checker-${n}`, at: [0, 5], attributes: { 'gen_ai.usage.input_tokens': 7 } })
const writer = taskOf('writer', [span('tool', { kind: 'tool', outcome: 'error' })])
const root = taskOf('front', [
  span('turn', {
    kind: 'turn',
    children: [
      hopTo('writer', [writer], { at: [0, 4] }),
      hopTo('checker', [checkerOf(1)], { at: [4, 6] }),
      hopTo('checker', [checkerOf(2)], { at: [6, 9], outcome: 'error' }),
    ],
  }),
])

describe('the delegations of a trace', () => {
  it('are listed by task, with the calls and their durations', () => {
    const { nodes, edges } = delegationOf([root], 'task', t0)
    assert.deepEqual(
      nodes.map(({ id, agent, errors }) => [id, agent, errors]),
      [
        ['front-task', 'front', 1],
        ['writer-task', 'writer', 1],
        ['checker-1', 'checker', 0],
        ['checker-2', 'checker', 0],
      ],
    )
    assert.deepEqual(
      edges.map(({ from, to, calls, durationMs, errors }) => [from, to, calls, durationMs, errors]),
      [
        ['front-task', 'writer-task', 1, 4, 0],
        ['front-task', 'checker-1', 1, 2, 0],
        ['front-task', 'checker-2', 1, 3, 1],
      ],
    )
  })

  it('are listed by agent, with the sums of calls, durations and tokens', () => {
    const { nodes, edges } = delegationOf([root], 'agent', t0)
    assert.deepEqual(
      nodes.map(({ agent, taskIds, tokens }) => [agent, taskIds.length, tokens]),
      [
        ['front', 1, 0],
        ['writer', 1, 0],
        ['checker', 2, 14],
      ],
    )
    assert.deepEqual(
      edges.map(({ calls, durationMs, errors }) => [calls, durationMs, errors]),
      [
        [1, 4, 0],
        [2, 5, 1],
      ],
    )
  })

  it('count each call to the same task', () => {
    const asker = taskOf('asker')
    const again = hopTo('asker', [], { spanId: 'again', at: [8, 9], attributes: { childTaskId: 'asker-task' } })
    const { nodes, edges } = delegationOf([taskOf('front', [hopTo('asker', [asker]), again])], 'task', t0)
    assert.deepEqual([nodes.length, edges.length, edges[0]?.calls, edges[0]?.durationMs], [2, 1, 2, 11])
  })

  it('include calls that have not ended, as running', () => {
    const running = taskOf('front', [taskOf('slow', [], { at: [5] })], { at: [0] })
    const { nodes, edges } = delegationOf([running], 'task', t0 + 100)
    assert.deepEqual(
      nodes.map(({ durationMs }) => durationMs),
      [100, 95],
    )
    assert.deepEqual([edges[0]?.isRunning, edges[0]?.calls, edges[0]?.durationMs], [true, 1, 95])
  })

  it('include agents of other hubs, and tasks outside the trace', () => {
    const remote = span('r', { kind: 'hop', name: 'call partner', attributes: { agent: 'partner' } })
    const gone = hopTo('old', [], { attributes: { childTaskId: 'gone' } })
    const refused = hopTo('closed', [], { outcome: 'error' })
    const { nodes } = delegationOf([taskOf('front', [remote, gone, refused])], 'task', t0)
    assert.deepEqual(
      nodes.map(({ agent, kind, taskIds }) => [agent, kind, taskIds]),
      [
        ['front', 'task', ['front-task']],
        ['partner', 'elsewhere', []],
        ['old', 'unseen', ['gone']],
        ['closed', 'unseen', []],
      ],
    )
  })

  it('show the most urgent state of an agent', () => {
    const child = (n: number, state: string) =>
      hopTo('w', [taskOf('w', [], { taskId: `w${n}`, attributes: { state: `TASK_STATE_${state}` } })])
    const { nodes } = delegationOf(
      [taskOf('front', [child(1, 'COMPLETED'), child(2, 'FAILED'), child(3, 'WORKING')])],
      'agent',
      t0,
    )
    assert.equal(nodes[1]?.state, 'TASK_STATE_FAILED')
  })
})
