import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sessionKeyOf, stableId } from './derived-ids.ts'

const turn = { tenant: 'acme', caller: { id: 'ann' }, task: { contextId: 'c1' } }

describe('the session of a turn', () => {
  it('is the same for the same caller, agent and context', () => {
    assert.equal(sessionKeyOf(turn, 'bot'), sessionKeyOf({ ...turn }, 'bot'))
  })

  it('differs as soon as tenant, caller, agent or context does', () => {
    const others = [
      sessionKeyOf({ ...turn, tenant: 'other' }, 'bot'),
      sessionKeyOf({ ...turn, caller: { id: 'bob' } }, 'bot'),
      sessionKeyOf({ ...turn, task: { contextId: 'C1' } }, 'bot'),
      sessionKeyOf(turn, 'bot2'),
      // Concatenated without a separator, these two would be equal.
      sessionKeyOf({ tenant: 'acm', caller: { id: 'eann' }, task: { contextId: 'c1' } }, 'bot'),
    ]
    assert.equal(new Set([...others, sessionKeyOf(turn, 'bot')]).size, 6)
  })

  it('is lower-case hex and tells nothing of whose it is', () => {
    assert.match(sessionKeyOf(turn, 'bot'), /^[0-9a-f]{40}$/)
  })
})

it('is the same for the same place, another for any other, and looks like a UUID', () => {
  assert.equal(stableId('task', 'step'), stableId('task', 'step'))
  const others = [['task', 'step2'], ['taskstep'], ['task', '', 'step'], ['step', 'task'], []]
  assert.equal(new Set([stableId('task', 'step'), ...others.map((of) => stableId(...of))]).size, others.length + 1)
  assert.match(stableId('task'), /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
})
