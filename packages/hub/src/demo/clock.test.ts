import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testAgent } from '@parley/a2a/testing'
import type { Task } from '@parley/a2a'
import { clock } from './clock.ts'

describe('the clock', () => {
  it('counts the requested number of seconds', async (t) => {
    const agent = testAgent(clock)
    t.after(() => agent.close())
    const events = await agent.stream('1').all()
    const ticks = events.flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate] : []))
    assert.deepEqual(
      ticks.map(({ artifact, lastChunk }) => [artifact.artifactId, artifact.parts, lastChunk]),
      [['ticks', [{ text: '1\n' }], true]],
    )
  })

  it('rejects what is no number of seconds, and says what it takes', async (t) => {
    const agent = testAgent(clock)
    t.after(() => agent.close())
    for (const nonsense of ['soon', '0', '-1', '1.5', '3601', '']) {
      const { status } = (await agent.send(nonsense)) as Task
      assert.equal(status.state, 'TASK_STATE_REJECTED', nonsense)
      assert.deepEqual(status.message?.parts, [{ text: 'Tell me a number of seconds, from 1 to 3600.' }])
    }
  })

  it('stops when it is canceled', async (t) => {
    const agent = testAgent(clock)
    t.after(() => agent.close())
    const { id } = (await agent.send('3600', { returnImmediately: true })) as Task
    assert.equal((await agent.cancel(id)).status.state, 'TASK_STATE_CANCELED')
  })
})
