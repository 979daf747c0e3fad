/** What `/readyz` reports while a store fails and recovers, and what that costs the store. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { Store } from '../../stores/store.ts'
import { createHandler } from '../handler.ts'
import { createStoreCheck } from './readiness.ts'

const opened: { close(): Promise<void> }[] = []
after(() => Promise.all(opened.map((handler) => handler.close())))

function handlerOn(ready: Store['ready']) {
  const store: Store = { ...memoryStore(), ...(ready !== undefined ? { ready } : {}) }
  const handler = createHandler({ store, agent: () => 'x', hosts: ['test'] })
  opened.push(handler)
  return {
    handler,
    probe: async () => (await handler.fetch(new Request('http://test/readyz'))).status,
    send: async () => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] }
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ message }),
      }
      return handler.fetch(new Request('http://test/message:send', init))
    },
  }
}

describe('/readyz', () => {
  it('turns false while the store cannot be written, and back', async () => {
    let isDown = false
    let at = 0
    const store = { ...memoryStore(), ready: async () => void (isDown && fail()) }
    const check = createStoreCheck(store, { monotonicNow: () => at, freshMs: 500 })
    const seen: boolean[] = []
    for (const down of [false, true, false]) {
      isDown = down
      at += 501
      seen.push(await check())
    }
    assert.deepEqual(seen, [true, false, true])
  })

  it('is true for a store without a check, and answers over HTTP', async () => {
    const well = handlerOn(undefined)
    await well.handler.ready
    assert.equal(await well.probe(), 200)
    const ill = handlerOn(() => Promise.reject(new Error('no database')))
    await ill.handler.ready
    assert.equal(await ill.probe(), 503)
  })

  it('does not wait for a store that does not respond', async () => {
    const check = createStoreCheck(
      { ...memoryStore(), ready: () => new Promise(() => {}) },
      { monotonicNow: Date.now, timeoutMs: 5 },
    )
    assert.equal(await check(), false)
  })

  it('checks a hanging store once, however often it is requested, and sees its recovery', async () => {
    let asked = 0
    let at = 0
    const back = Promise.withResolvers<void>()
    const store = {
      ...memoryStore(),
      ready: () => {
        asked += 1
        return back.promise
      },
    }
    const check = createStoreCheck(store, { monotonicNow: () => at, timeoutMs: 5, freshMs: 500 })
    for (let lap = 0; lap < 4; lap += 1) {
      at += 501
      assert.equal(await check(), false)
    }
    assert.equal(asked, 1)
    back.resolve()
    at += 501
    assert.equal(await check(), true)
    at += 501
    assert.equal(await check(), true)
    assert.equal(asked, 2)
  })

  it('checks the store once for many requests', async () => {
    let asked = 0
    const store = { ...memoryStore(), ready: async () => void (asked += 1) }
    const check = createStoreCheck(store, { monotonicNow: () => 0 })
    assert.deepEqual(await Promise.all([check(), check(), check()]), [true, true, true])
    assert.equal(await check(), true)
    assert.equal(asked, 1)
  })

  it('is false while a server shuts down, which serves until it drains', async () => {
    const { handler, probe, send } = handlerOn(undefined)
    await handler.ready
    handler.announceShutdown()
    assert.equal(await probe(), 503)
    assert.equal((await send()).status, 200)
    await handler.drain()
    const refused = await send()
    assert.equal(refused.status, 503)
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
  })
})

function fail(): never {
  throw new Error('no database')
}
