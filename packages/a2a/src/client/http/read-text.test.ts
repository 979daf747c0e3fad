import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { describe, it } from 'node:test'
import { A2AError } from '../../model/error.ts'
import { openRawServers } from '../../testing/fixtures/raw-server.ts'
import { readText } from './read-text.ts'

const listen = openRawServers()
const never = new AbortController().signal
const fails = (code: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof A2AError, String(error))
  assert.equal(error.code, code)
  assert.match(error.message, message)
  return true
}

describe('reading a response', () => {
  it('returns the whole text, with characters split between chunks', async () => {
    const bytes = new TextEncoder().encode('\u{feff}grüße 👋')
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    assert.equal(await readText(new Response(body), bytes.length, never), 'grüße 👋')
    assert.equal(await readText(new Response(null, { status: 204 }), 0, never), '')
  })

  it('stops at the limit, names it, and closes the connection [B-26]', async () => {
    let left: Promise<unknown> | undefined
    const { url } = await listen((_, response) => {
      left = once(response, 'close')
      const more = (): void =>
        void (response.write('x'.repeat(1_000)) ? setImmediate(more) : response.once('drain', more))
      more()
    })
    await assert.rejects(
      readText(await fetch(url), 5_000, never),
      fails('INVALID_AGENT_RESPONSE', /limit of 5000 bytes/),
    )
    await left
  })

  it('does not wait for an end that drips or never comes', async () => {
    let left: Promise<unknown> | undefined
    const { url } = await listen((_, response) => {
      left = once(response, 'close')
      response.write('{')
      const drip = setInterval(() => response.write(' '), 5)
      response.on('close', () => clearInterval(drip))
    })
    await assert.rejects(readText(await fetch(url), 5_000, never, 40), fails('TIMEOUT', /timed out/))
    await left
  })

  it('reports a broken connection', async () => {
    const { url } = await listen((request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"half":')
      setImmediate(() => request.socket.destroy())
    })
    await assert.rejects(readText(await fetch(url), 5_000, never), fails('INTERRUPTED', /during the response/))
  })

  it("rejects with the caller's reason when aborted, even if the body ignores the signal", async () => {
    const reason = new Error('enough')
    const cancelled: unknown[] = []
    const endless = (): Response => new Response(new ReadableStream({ cancel: (why) => void cancelled.push(why) }))
    const leaving = new AbortController()
    const text = readText(endless(), 100, leaving.signal)
    leaving.abort(reason)
    await assert.rejects(text, reason)
    await assert.rejects(readText(endless(), 100, leaving.signal), reason)
    assert.deepEqual(cancelled, [reason, reason])
    assert.equal(getEventListeners(leaving.signal, 'abort').length, 0)
  })
})
