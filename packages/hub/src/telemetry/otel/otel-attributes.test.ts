import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isInSample } from './otel.ts'
import { otelAttributes } from './export-span.ts'

describe('attributes for a collector', () => {
  it('are those of the conventions where there are some, and ours under our own name', () => {
    assert.deepEqual(
      otelAttributes({
        'gen_ai.request.model': 'm',
        'gen_ai.response.finish_reasons': ['stop'],
        taskId: 't',
        state: 'TASK_STATE_WORKING',
        idempotencyKey: 'k',
        type: 'A2A_TASK',
        turn: 2,
        interrupted: true,
        nothing: null,
        sizes: [1, 2],
        mixed: [1, 'a', { b: 1 }],
        delegationContext: { parentTaskId: 'p', depth: 1, visited: ['a'], deep: { x: 1 } },
      }),
      {
        'gen_ai.request.model': 'm',
        'gen_ai.response.finish_reasons': ['stop'],
        'a2a.task.id': 't',
        'a2a.task.state': 'TASK_STATE_WORKING',
        'a2a.message.id': 'k',
        'parley.type': 'A2A_TASK',
        'parley.turn': 2,
        'parley.interrupted': true,
        'parley.sizes': [1, 2],
        'parley.mixed': ['1', 'a', '{"b":1}'],
        'parley.delegation_context.parent_task_id': 'p',
        'parley.delegation_context.depth': 1,
        'parley.delegation_context.visited': ['a'],
        'parley.delegation_context.deep': '{"x":1}',
      },
    )
  })
})

describe('a share of traces', () => {
  it('is the same traces everywhere', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => (index * 4_294_967).toString(16).padStart(32, '0'))
    const share = ids.filter((id) => isInSample(id, 0.25))
    assert.ok(share.length > 200 && share.length < 300)
    assert.ok(share.every((id) => isInSample(id, 0.5)))
    assert.deepEqual(
      [ids.filter((id) => isInSample(id, 0)).length, ids.filter((id) => isInSample(id, 1)).length],
      [0, 1_000],
    )
  })
})
