import assert from 'node:assert/strict'
import { describe, it, mock, type TestContext } from 'node:test'
import { memoryStore } from '../stores/memory.ts'
import { serve } from './node.ts'
import { afterStall } from './patience.ts'

/** The whole process does nothing else for so long. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function fakeTime(t: TestContext): void {
  mock.timers.enable({ apis: ['setInterval'] })
  t.after(() => mock.timers.reset())
}

describe('patience with who takes nothing', () => {
  it('ends after its time, once, unless it is called off', (t) => {
    fakeTime(t)
    const cut: string[] = []
    afterStall(1_000, () => cut.push('first'))
    const callOff = afterStall(1_000, () => cut.push('second'))
    mock.timers.tick(999)
    assert.deepEqual(cut, [])
    callOff()
    mock.timers.tick(1)
    mock.timers.tick(5_000)
    assert.deepEqual(cut, ['first'])
  })

  it('may have no end', (t) => {
    fakeTime(t)
    t.after(afterStall(Infinity, () => assert.fail('cut off')))
    mock.timers.tick(100_000)
  })

  it('does not end because the server itself stood still [B-95]', async (t) => {
    const big = 'x'.repeat(5_000_000)
    const server = await serve({ port: 0, store: memoryStore(), stallMs: 200, agent: () => big })
    t.after(() => server.close())
    const pauses = setInterval(() => standStill(250), 1)
    t.after(() => clearInterval(pauses))
    const answer = await fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] } }),
    })
    let bytes = 0
    for await (const piece of answer.body ?? []) {
      bytes += piece.length
      if (bytes > 2_000_000) clearInterval(pauses)
    }
    assert.ok(bytes > big.length)
  })
})
