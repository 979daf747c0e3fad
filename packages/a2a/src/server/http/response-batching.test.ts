import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { sendBatched } from './node-adapter.ts'

/** Opens `count` requests, each waiting for its response. */
async function open(t: TestContext, count: number) {
  const waiting: ServerResponse[] = []
  const server = createServer((_request, response) => {
    waiting.push(response)
    if (waiting.length === count) server.emit('all')
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const all = once(server, 'all')
  const answers = Array.from({ length: count }, () => fetch(`http://127.0.0.1:${port}/`))
  await all
  return { waiting, answers: Promise.all(answers.map((answer) => answer.catch(() => undefined))) }
}

describe('responses that are written together', () => {
  it('reach their own readers, except one that disconnected', async (t) => {
    const { waiting, answers } = await open(t, 3)
    waiting[1]?.destroy()
    for (const [index, response] of waiting.entries())
      sendBatched(response, 200, { 'x-n': String(index) }, `n${index}`, 2)
    const [first, gone, last] = await answers
    assert.equal(gone, undefined)
    assert.deepEqual(await Promise.all([first?.text(), last?.text()]), ['n0', 'n2'])
    assert.equal(last?.headers.get('content-length'), '2')
  })

  it('are not affected by one that other code has sent', async (t) => {
    const { waiting, answers } = await open(t, 2)
    waiting[0]?.end('by another hand')
    for (const response of waiting) sendBatched(response, 200, {}, 'ours', 4)
    const [first, second] = await answers
    assert.equal(await first?.text(), 'by another hand')
    assert.equal(await second?.text(), 'ours')
  })

  it('have no length if there can be no body', async (t) => {
    const { waiting, answers } = await open(t, 1)
    sendBatched(waiting[0] as ServerResponse, 204, {}, '', 0)
    const [only] = await answers
    assert.equal(only?.status, 204)
    assert.equal(only?.headers.get('content-length'), null)
  })
})
