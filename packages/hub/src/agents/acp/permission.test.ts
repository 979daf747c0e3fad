import assert from 'node:assert/strict'
import { it } from 'node:test'
import { questionFromRequest } from './permission.ts'

it('has something to say where the agent does not', () => {
  assert.equal(
    questionFromRequest({ sessionId: 's', toolCall: { toolCallId: 't' }, options: [] }).title,
    'The agent wants to use a tool',
  )
})
