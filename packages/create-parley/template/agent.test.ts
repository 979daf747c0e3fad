/** Calls the agent as a client does, without a network. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import { agent } from './agent.ts'

test('greets people by name', async (t) => {
  const greeter = testAgent(agent)
  t.after(() => greeter.close())
  assert.equal(await greeter.ask('Ada'), 'Hello, Ada!')
})
