/** Calls the agent as a client does, without a network: it asks, and continues with the answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import { agent } from './agent.ts'

test('asks, and continues with the answer', async (t) => {
  const tested = testAgent(agent)
  t.after(() => tested.close())
  const asked = await tested.send('go')
  assert.ok('status' in asked)
  assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
  const done = await tested.send('yes', { taskId: asked.id })
  assert.match(JSON.stringify(done), /paid 42 for INV-7/)
})
