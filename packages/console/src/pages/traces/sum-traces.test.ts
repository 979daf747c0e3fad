import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Trace } from '../../api/admin.ts'
import { barShare, traceDurationMs, longestDurationMs, sumTraces, delegationPathText } from './sum-traces.ts'

const trace = (given: Partial<Trace>): Trace => ({
  type: 'A2A_TASK',
  traceId: 't',
  taskId: 't',
  contextId: 'c',
  agent: 'a',
  caller: 'x',
  tenant: '',
  state: 'TASK_STATE_COMPLETED',
  status: 'SUCCESS',
  idempotencyKey: 'm',
  startedAt: '2030-01-01T12:00:00.000Z',
  endedAt: '2030-01-01T12:00:02.000Z',
  agents: ['a'],
  models: [],
  tools: [],
  tasks: 1,
  turns: 1,
  spans: 2,
  errors: 0,
  inputTokens: 0,
  outputTokens: 0,
  ...given,
})

describe('the totals of a trace', () => {
  it('are those of all its roots, from the first start to the last end', () => {
    const other = trace({
      startedAt: '2030-01-01T12:00:01.000Z',
      endedAt: '2030-01-01T12:00:05.000Z',
      agents: ['a', 'b'],
      tasks: 3,
      errors: 1,
      inputTokens: 10,
      cost: 0.5,
    })
    const totals = sumTraces([trace({}), other], 0)
    assert.deepEqual([totals.durationMs, totals.tasks, totals.errors, totals.inputTokens], [5_000, 4, 1, 10])
    assert.deepEqual([totals.agents, totals.cost], [['a', 'b'], 0.5])
    assert.equal(sumTraces([trace({})], 0).cost, undefined)
  })

  it('grow while it runs', () => {
    const { endedAt: _, ...running } = trace({})
    const at = Date.parse('2030-01-01T12:01:00.000Z')
    assert.deepEqual([sumTraces([running], at).durationMs, traceDurationMs(running, at)], [60_000, 60_000])
    assert.equal(traceDurationMs(trace({}), at), 2_000)
  })
})

describe('the bar of a trace in the list', () => {
  it('is relative to the longest ended trace', () => {
    const { endedAt: _, ...running } = trace({})
    assert.equal(longestDurationMs([trace({}), running]), 2_000)
    assert.equal(longestDurationMs([running]), 1)
    assert.equal(longestDurationMs([trace({ waitingMs: 500 })]), 1_500)
    assert.deepEqual([barShare(0, 400), barShare(100, 400), barShare(400, 400), barShare(9_000, 400)], [0, 0.5, 1, 1])
  })
})

describe('the delegation path of a request', () => {
  it('has the agents, and their hubs if there are several', () => {
    assert.equal(delegationPathText(['hub#front', 'hub#writer']), 'front → writer')
    assert.equal(
      delegationPathText(['https://a.example#front', 'https://b.example#middle']),
      'front (https://a.example) → middle (https://b.example)',
    )
    assert.equal(delegationPathText(['front']), 'front')
  })
})
