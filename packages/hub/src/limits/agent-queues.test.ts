import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import { createAgentQueues } from './limit-concurrency.ts'

describe('the queues of agents', () => {
  it('count the turns that run and that wait, for agents with a limit', async () => {
    const queues = createAgentQueues()
    const gate = Promise.withResolvers<string>()
    const limited = queues.limit(() => gate.promise, { concurrent: 1 }, 'slow')
    const free = queues.limit(() => 'x', {}, 'free')
    const agent = testAgent(limited)
    assert.equal(await testAgent(free).ask('hi'), 'x')
    const answers = [agent.ask('one'), agent.ask('two'), agent.ask('three')]
    for (let look = 0; look < 1_000 && queues.lengths()[0]?.waiting !== 2; look += 1)
      await new Promise((resolve) => setTimeout(resolve, 1))
    assert.deepEqual(queues.lengths(), [{ agent: 'slow', waiting: 2, running: 1 }])
    gate.resolve('done')
    await Promise.all(answers)
    assert.deepEqual(queues.lengths(), [{ agent: 'slow', waiting: 0, running: 0 }])
    queues.limit(() => 'x', {}, 'slow')
    assert.deepEqual(queues.lengths(), [])
  })
})
