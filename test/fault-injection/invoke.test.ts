/** `invoke` never throws, whatever the server does. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { invoke } from '@parley/a2a/client'
import { faultCase, limits } from './fault-case.ts'
import type { ExchangeHandler } from './faulty-server.ts'
import { events, taskId, wholeText } from './sample-task.ts'

const streamed: ExchangeHandler = (exchange) => {
  exchange.stream()
  for (const event of events) exchange.event(event)
  exchange.end()
}

describe('invoke', () => {
  faultCase('returns the answer of an agent', async ({ open, signal }) => {
    const server = await open({ SendStreamingMessage: streamed })
    const said = await invoke(server.url, 'go', { signal, limits })
    assert.deepEqual(said, { success: true, taskId, responseText: wholeText, error: undefined })
  })

  const servers: Readonly<Record<string, ExchangeHandler>> = {
    'never answers': () => {},
    'hangs up': (exchange) => exchange.hangUp(),
    resets: (exchange) => exchange.reset(),
    'shows a page': (exchange) => exchange.answer(200, { 'content-type': 'text/html' }, '<html>hello</html>'),
    'knows nothing': (exchange) => exchange.answer(404, {}, ''),
    'is broken': (exchange) => exchange.answer(500, {}, ''),
    'goes round in circles': (exchange) => exchange.answer(302, { location: exchange.path }, ''),
    'sends half a card': (exchange) => exchange.answer(200, { 'content-type': 'application/json' }, '{"name":'),
  }
  for (const [how, answer] of Object.entries(servers)) {
    faultCase(`returns the failure if the server ${how}`, async ({ open, signal }) => {
      const server = await open(answer)
      const said = await invoke(server.url, 'go', { signal, timeoutMs: 400, limits })
      assert.equal(said.success, false)
      assert.ok(typeof said.error === 'string' && said.error !== '')
    })

    faultCase(`returns the failure if the server has a card and then ${how}`, async ({ open, signal }) => {
      const server = await open({ card: (exchange) => exchange.json(server.card), other: answer })
      const said = await invoke(server.url, 'go', { signal, timeoutMs: 400, limits })
      assert.equal(said.success, false)
      assert.ok(typeof said.error === 'string' && said.error !== '')
    })
  }

  faultCase('returns the failure for an unreachable server and for an invalid address', async ({ open, signal }) => {
    const server = await open({})
    await server.close()
    for (const url of [server.url, 'not an address', 'file:///etc/passwd', 'http://']) {
      const said = await invoke(url, 'go', { signal, timeoutMs: 400, limits })
      assert.equal(said.success, false, url)
    }
  })

  faultCase("returns the abort when the caller's signal ends it", async ({ open, signal, abort }) => {
    const server = await open((exchange) => {
      if (exchange.operation === 'card') return exchange.json(server.card)
      abort(new Error('enough'))
    })
    const said = await invoke(server.url, 'go', { signal, limits })
    assert.equal(said.success, false)
    assert.match(said.error ?? '', /enough/)
  })
})
