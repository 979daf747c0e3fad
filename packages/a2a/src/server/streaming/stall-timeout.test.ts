import assert from 'node:assert/strict'
import { describe, it, mock, type TestContext } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { createHandler } from '../handler.ts'
import { serve } from '../node.ts'
import { startStallTimer } from './reader-limits.ts'

/** Blocks the whole process for this long. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function fakeTime(t: TestContext): void {
  mock.timers.enable({ apis: ['setInterval'] })
  t.after(() => mock.timers.reset())
}

describe('the stall timeout', () => {
  it('ends after its time, once, unless it is canceled', (t) => {
    fakeTime(t)
    const cut: string[] = []
    startStallTimer(1_000, () => cut.push('first'))
    const callOff = startStallTimer(1_000, () => cut.push('second'))
    mock.timers.tick(999)
    assert.deepEqual(cut, [])
    callOff()
    mock.timers.tick(1)
    mock.timers.tick(5_000)
    assert.deepEqual(cut, ['first'])
  })

  it('restarts with every check that finds progress', (t) => {
    fakeTime(t)
    let taken = 0
    let cuts = 0
    startStallTimer(
      1_000,
      () => (cuts += 1),
      () => taken,
    )
    for (let byte = 0; byte < 20; byte += 1) {
      mock.timers.tick(900)
      taken += 1
    }
    assert.equal(cuts, 0)
    mock.timers.tick(2_000)
    assert.equal(cuts, 1)
  })

  it('disconnects a client that reads nothing of a large response, and never one that reads a slice now and then', async (t) => {
    const handler = createHandler({ store: memoryStore(), stallMs: 1_000, agent: () => 'x'.repeat(1_000_000) })
    t.after(() => handler.close())
    const send = (): Promise<Response> =>
      handler.fetch(
        new Request('http://localhost/message:send', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
          body: JSON.stringify({
            message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] },
          }),
        }),
      )
    await handler.ready
    fakeTime(t)
    const slow = (await send()).body?.getReader()
    const silent = (await send()).body?.getReader()
    assert.ok(slow !== undefined && silent !== undefined)
    assert.ok(handler.readers.unsentBytes > 2_000_000)
    await silent.read()
    let bytes = 0
    for (let next = await slow.read(); !next.done; next = await slow.read()) {
      bytes += next.value.length
      mock.timers.tick(900)
    }
    assert.ok(bytes > 1_000_000, 'all of it')
    await assert.rejects(silent.read(), /not read/)
    assert.deepEqual([handler.readers.disconnected, handler.readers.unsentBytes], [1, 0])
  })

  it('may be infinite', (t) => {
    fakeTime(t)
    t.after(startStallTimer(Infinity, () => assert.fail('cut off')))
    mock.timers.tick(100_000)
  })

  it('does not end because the server itself was blocked [B-95]', async (t) => {
    const big = 'x'.repeat(5_000_000)
    const server = await serve({ port: 0, store: memoryStore(), stallMs: 80, agent: () => big })
    t.after(() => server.close())
    const pauses = setInterval(() => standStill(100), 1)
    t.after(() => clearInterval(pauses))
    const answer = await fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] } }),
    })
    let bytes = 0
    for await (const piece of answer.body ?? []) {
      bytes += piece.length
      if (bytes > 1_000_000) clearInterval(pauses)
    }
    assert.ok(bytes > big.length)
  })
})
