import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { openWebhookReceiver } from './webhook-receiver.ts'

describe('the webhook receiver of the judge', () => {
  it('waits for a delivery until its signal is aborted', async () => {
    const receiver = await openWebhookReceiver({})
    try {
      const hook = receiver.webhook()
      const stop = new AbortController()
      const waiting = hook.until((all) => all.length > 1, stop.signal)
      await fetch(hook.url, { method: 'POST', body: '{}' })
      assert.equal(await hook.until((all) => all.length > 0, stop.signal, 0), true)
      stop.abort()
      assert.equal(await waiting, false)
      assert.equal(await hook.until((all) => all.length > 1, stop.signal), false)
    } finally {
      await receiver.close()
    }
  })

  it('survives any request line, and knows its webhooks by their path', async () => {
    const receiver = await openWebhookReceiver({})
    try {
      const hook = receiver.webhook()
      const { port, pathname } = new URL(hook.url)
      const post = async (path: string): Promise<number | undefined> => {
        const sent = request({ port, host: '127.0.0.1', path, method: 'POST' }).end('{}')
        const [response] = (await once(sent, 'response')) as [IncomingMessage]
        response.resume()
        return response.statusCode
      }
      for (const path of ['//', '//[', 'http://[', '/%', '/?/']) assert.equal(await post(path), 404, path)
      assert.equal(await post(`${pathname}/a?b=c`), 204)
      assert.deepEqual(
        hook.deliveries.map(({ path }) => path),
        ['/a'],
      )
    } finally {
      await receiver.close()
    }
  })
})
