import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Agent } from '../../../api/admin.ts'
import { errorRate, nextOrder, parseAgentOrder, sortAgents } from './agent-order.ts'

const agent = (name: string, calls: number, errors: number, lastUsedAt?: string): Agent =>
  ({
    name,
    kind: 'module',
    status: { state: name === 'b' ? 'down' : 'up' },
    load: { working: 0, waiting: 0, streams: 0 },
    usage: { calls, errors, ...(lastUsedAt === undefined ? {} : { lastUsedAt }) },
  }) as unknown as Agent

const all = [
  agent('c', 5, 5, '2030-01-01T00:00:00Z'),
  agent('a', 100, 6),
  agent('b', 0, 0, '2030-01-02T00:00:00Z'),
  agent('d', 5, 0),
]
const sorted = (param: string): string =>
  sortAgents(all, parseAgentOrder(param))
    .map(({ name }) => name)
    .join('')

describe('the order of the agents', () => {
  it('is that of the address: by name, health, calls, error rate or last use', () => {
    assert.equal(sorted(''), 'cabd')
    assert.equal(sorted('nonsense.desc'), 'cabd')
    assert.equal(sorted('name.asc'), 'abcd')
    assert.equal(sorted('name.desc'), 'dcba')
    assert.equal(sorted('health.asc'), 'bacd')
    assert.equal(sorted('calls.desc'), 'acdb')
    assert.equal(sorted('errors.desc'), 'cabd')
    assert.equal(sorted('used.desc'), 'bcad')
  })

  it('changes with each click: numbers begin with the greatest, then the other way round, then as listed', () => {
    assert.equal(nextOrder(undefined, 'calls'), 'calls.desc')
    assert.equal(nextOrder(parseAgentOrder('calls.desc'), 'calls'), 'calls.asc')
    assert.equal(nextOrder(parseAgentOrder('calls.asc'), 'calls'), undefined)
    assert.equal(nextOrder(parseAgentOrder('calls.asc'), 'name'), 'name.asc')
  })

  it('counts failed tasks of earlier calls at most as all calls', () => {
    assert.equal(errorRate(agent('a', 0, 3)), 1)
    assert.equal(errorRate(agent('a', 4, 1)), 0.25)
    assert.equal(errorRate(agent('a', 0, 0)), 0)
  })
})
