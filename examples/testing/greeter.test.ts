/** Testing an agent: no socket, no port, but the whole path, in every version of the protocol. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Turn } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'

async function* myAgent({ text }: Turn): AsyncGenerator<string> {
  yield `Hello, ${text}!`
}

it('greets', async () => {
  const agent = testAgent(myAgent) // no socket; the whole path, every version
  assert.equal(await agent.ask('hi'), 'Hello, hi!')
  assert.deepEqual(await agent.stream('hi').states(), [
    'TASK_STATE_SUBMITTED',
    'TASK_STATE_WORKING',
    'TASK_STATE_COMPLETED',
  ])
  await agent.close()
})

it('greets clients of every version', async () => {
  const agent = testAgent(myAgent)
  for (const version of ['0.2', '0.3', '1.0'] as const) {
    for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
      assert.equal(await agent.as(version, binding).ask('hi'), 'Hello, hi!')
    }
  }
  await agent.close()
})
