import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { createHandler } from '@parley/a2a/server'
import type { AgentProfile } from './agent-directory.ts'
import { createLocalAgent } from './local-agent.ts'
import { testCall } from '../../auth/testing/test-call.ts'

const profile: AgentProfile = {
  title: 'Large',
  description: '',
  version: '1',
  url: '',
  skills: [],
  inputModes: [],
  outputModes: [],
  isAvailable: true,
}
const large = 'x'.repeat(1_000_000)

describe('an agent of the hub that does not stream', { timeout: 120_000 }, () => {
  it('is polled without counting a large task more than once', async (t) => {
    const finish = Promise.withResolvers<void>()
    const handler = createHandler({
      name: 'Large',
      store: memoryStore(),
      authenticate: () => ({ id: 'ann' }),
      async *agent() {
        yield { artifact: { artifactId: 'a', parts: [{ text: large }] } }
        await finish.promise
        yield { state: 'TASK_STATE_COMPLETED' }
      },
    })
    t.after(() => handler.close())
    const memory = handler.readers.openMemory('ann', new AbortController().signal)
    const agent = createLocalAgent({
      agent: 'default',
      profile,
      streams: false,
      handlerCall: handler.call,
      call: { ...testCall({}, { path: '/mcp', agent: 'default' }), caller: { id: 'ann' } },
      memory,
    })
    const counts: number[] = []
    const answer = await agent.send(
      { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
      {
        signal: t.signal,
        onEvent(event) {
          if (!('task' in event) || event.task.artifacts === undefined) return
          counts.push(handler.readers.unsentBytes)
          if (counts.length === 3) finish.resolve()
        },
      },
    )
    assert.ok('task' in answer)
    assert.deepEqual(answer.task.artifacts?.[0]?.parts, [{ text: large }])
    assert.deepEqual(new Set(counts), new Set([0]))
    // What the response takes: the task, and twice as much to read and to encode it.
    assert.equal(Math.floor(handler.readers.unsentBytes / large.length), 3)
    memory.release()
    assert.equal(handler.readers.unsentBytes, 0)
  })
})
