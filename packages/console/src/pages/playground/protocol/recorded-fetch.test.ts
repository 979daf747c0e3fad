import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Exchange } from './exchange.ts'
import { createRecordedFetch, createFrameSplitter } from './recorded-fetch.ts'
import { createProtocolLog, type ProtocolLog } from './protocol-log.ts'

/** Resolves as soon as the log shows the expected content. */
function shown(
  { exchanges }: ProtocolLog,
  isThere: (last: Exchange) => boolean = ({ ended }) => ended !== undefined,
): Promise<readonly Exchange[]> {
  return new Promise((resolve) => {
    exchanges.subscribe((now) => {
      const last = now.at(-1)
      if (last !== undefined && isThere(last)) resolve(now)
    })
  })
}

const stream = (pieces: readonly string[], onCancel = () => {}): Response =>
  new Response(
    new ReadableStream({
      pull(controller) {
        const [piece, ...others] = pieces
        pieces = others
        if (piece === undefined) controller.close()
        else controller.enqueue(new TextEncoder().encode(piece))
      },
      cancel: onCancel,
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )

describe('the recorded fetch', () => {
  it('calls the hub that served the page, with cookie and CSRF token, and records neither', async () => {
    const log = createProtocolLog()
    const asked: { url: string; init: RequestInit }[] = []
    const fetch = createRecordedFetch({
      log,
      origin: 'http://here.test',
      csrf: () => 'the token',
      secrets: () => ['1234'],
      fetch: async (url, init) => {
        asked.push({ url: String(url), init: init ?? {} })
        return stream(['id: 1\ndata: {}\n', '\n:\n\n'])
      },
    })
    const body = JSON.stringify({ pin: '1234' })
    const answer = await fetch(new Request('https://public.example.com/a2a/x?y=1', { method: 'POST', body }))
    assert.equal(await answer.text(), 'id: 1\ndata: {}\n\n:\n\n')
    assert.equal(asked[0]?.url, 'http://here.test/a2a/x?y=1')
    assert.equal(asked[0]?.init.body, body)
    assert.equal(new Headers(asked[0]?.init.headers).get('x-csrf-token'), 'the token')
    assert.equal(asked[0]?.init.credentials, 'same-origin')
    const [exchange] = await shown(log)
    assert.equal(exchange?.url, 'http://here.test/a2a/x?y=1')
    assert.equal(exchange?.body, '{"pin":"(not shown)"}')
    assert.ok(!JSON.stringify(exchange).includes('the token'))
    assert.deepEqual(
      exchange?.frames.map(({ text }) => text),
      ['id: 1\ndata: {}', ':'],
    )
    assert.equal(exchange?.ended?.why, 'whole')
  })

  it('ends the connection when the reader stops, and records it', async () => {
    const log = createProtocolLog()
    let isCanceled = false
    const fetch = createRecordedFetch({
      log,
      origin: 'http://here.test',
      csrf: () => '',
      secrets: () => [],
      fetch: async () => stream(['id: 1\ndata: {}\n\n', 'id: 2\n'], () => (isCanceled = true)),
    })
    const answer = await fetch(new Request('http://here.test/a2a/x'))
    const reader = answer.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    assert.equal(isCanceled, true)
    assert.equal((await shown(log))[0]?.ended?.why, 'left')
  })

  it('records a failed connection', async () => {
    const log = createProtocolLog()
    const fetch = createRecordedFetch({
      log,
      origin: 'http://here.test',
      csrf: () => '',
      secrets: () => [],
      fetch: async () => Promise.reject(new TypeError('failed')),
    })
    await assert.rejects(fetch(new Request('http://here.test/a2a/x')))
    assert.equal((await shown(log))[0]?.ended?.why, 'broken')
  })
})

describe('the protocol log', () => {
  it('is bounded and keeps the newest', async () => {
    const log = createProtocolLog()
    for (let index = 0; index < 80; index += 1)
      log.startExchange({ method: 'GET', url: `http://h/${index}`, headers: [], body: undefined })
    const last = log.startExchange({ method: 'GET', url: 'http://h/last', headers: [], body: undefined })
    for (let index = 0; index < 7_000; index += 1) last.recordFrame(`data: ${index}`)
    const exchanges = await shown(log, ({ frames }) => frames.length > 0)
    assert.equal(exchanges.length, 60)
    const kept = exchanges.at(-1)
    assert.ok(kept !== undefined && kept.frames.length <= 6_000)
    assert.equal(kept.frames.at(-1)?.text, 'data: 6999')
    assert.equal(kept.droppedFrames + kept.frames.length, 7_000)
  })
})

const events = ': hello\n\nid: 1\ndata: {"a":1}\n\n:\n\nid: 2\r\ndata: b\r\n\r\n'

describe('the frames of a stream', () => {
  it('are the same wherever it is split', () => {
    for (let at = 0; at <= events.length; at += 1) {
      const { take } = createFrameSplitter()
      const frames = [...take(events.slice(0, at)), ...take(events.slice(at))]
      assert.deepEqual(frames, [': hello', 'id: 1\ndata: {"a":1}', ':', 'id: 2\ndata: b'], `cut at ${at}`)
    }
  })

  it('include an incomplete last one', () => {
    const { take, rest } = createFrameSplitter()
    assert.deepEqual(take('id: 1\ndata: {"a"'), [])
    assert.equal(rest(), 'id: 1\ndata: {"a"')
  })
})
