import assert from 'node:assert/strict'
import { it } from 'node:test'
import { stableId } from './derived-ids.ts'

it('is the same for the same place, another for any other, and looks like a UUID', () => {
  assert.equal(stableId('task', 'step'), stableId('task', 'step'))
  const others = [['task', 'step2'], ['taskstep'], ['task', '', 'step'], ['step', 'task'], []]
  assert.equal(new Set([stableId('task', 'step'), ...others.map((of) => stableId(...of))]).size, others.length + 1)
  assert.match(stableId('task'), /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
})
