import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readSse } from '../testing/fixtures/read-sse.ts'
import { createSseParser, type SseEvent } from './sse-reader.ts'
import { keepAlive, readCursor, sseFrame } from './http.ts'

async function readAll(chunks: readonly (string | Uint8Array)[], maxEventBytes?: number): Promise<SseEvent[]> {
  async function* source(): AsyncGenerator<string | Uint8Array> {
    yield* chunks
  }
  return Array.fromAsync(readSse(source(), maxEventBytes))
}
const message = (data: string, id?: string): SseEvent => ({ event: 'message', data, id })

describe('written server-sent events', () => {
  it('are read back with their cursor, and keep-alive comments are skipped [F-4 F-5 B-101]', async () => {
    const text = sseFrame(7, '{"result":', '{"a":1}', '}') + keepAlive + sseFrame(undefined, '', '{}', '')
    assert.deepEqual(await readAll([text]), [message('{"result":{"a":1}}', '7'), message('{}')])
  })

  it('have an id only if the event has a position in the log', () => {
    assert.equal(sseFrame(3, '', '{}', ''), 'id: 3\ndata: {}\n\n')
    assert.equal(sseFrame(undefined, '', '{}', ''), 'data: {}\n\n')
  })
})

describe('a cursor', () => {
  it('is a plain number, and anything else is ignored', () => {
    assert.equal(readCursor('12'), 12)
    assert.equal(readCursor('0'), 0)
    for (const garbage of [undefined, '', 'x', '-1', '1.5', ' 1', '1e3', '99999999999999999999', '0x10']) {
      assert.equal(readCursor(garbage), undefined)
    }
  })
})

describe('the reader of server-sent events', () => {
  it('accepts every line end, wherever the chunks are cut [F-5 S2-32]', async () => {
    const events = [message('a', '1'), message('b\nc'), { event: 'error', data: '{}', id: undefined }]
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['id: 1', 'data: a', '', ': note', 'data:b', 'data: c', '', 'event: error', 'data: {}', '', ''].join(
        end,
      )
      assert.deepEqual(await readAll([text]), events)
      assert.deepEqual(await readAll([...text]), events)
      for (let cut = 1; cut < text.length; cut++) {
        assert.deepEqual(await readAll([text.slice(0, cut), text.slice(cut)]), events, `cut at ${cut}`)
      }
    }
  })

  it('decodes characters that are split between chunks', async () => {
    const bytes = new TextEncoder().encode('data: größe 🚀\n\n')
    assert.deepEqual(await readAll([...bytes].map((byte) => Uint8Array.of(byte))), [message('größe 🚀')])
  })

  it('strips one leading space only, ignores unknown fields, and skips a byte order mark [F-5]', async () => {
    assert.deepEqual(await readAll(['\uFEFFretry: 5\nfoo: bar\ndata:  two\ndata\n\n']), [message(' two\n')])
  })

  it('returns the last event even without its blank line [F-5]', async () => {
    assert.deepEqual(await readAll(['data: a\n\ndata: b']), [message('a'), message('b')])
    assert.deepEqual(await readAll(['data: a\n\nid: 4\n']), [message('a')])
  })

  it('ends with an error that names the limit when an event exceeds it, in one line or in many [F-5]', async () => {
    const tooLarge = { code: 'PAYLOAD_TOO_LARGE', message: /100 bytes/, details: { limit: 'maxEventBytes' } }
    await assert.rejects(readAll([`data: ${'x'.repeat(200)}`], 100), tooLarge)
    await assert.rejects(readAll(['data: x\n'.repeat(50)], 100), tooLarge)
    assert.equal((await readAll(['data: x\n\n'.repeat(50)], 100)).length, 50)
    const parser = createSseParser(100)
    assert.deepEqual(parser.feed(`data: a\n\ndata: ${'x'.repeat(200)}`), [message('a')])
    assert.throws(() => parser.feed('x'), tooLarge)
    assert.equal((await readAll([': still here\n'.repeat(50), 'data: x\n\n'], 100)).length, 1)
  })

  it('reads a long event in many chunks in linear time', () => {
    const parser = createSseParser(64_000_000)
    const startedAt = process.cpuUsage()
    parser.feed('data: ')
    for (let piece = 0; piece < 20_000; piece++) parser.feed('x'.repeat(1000))
    const [event] = parser.feed('\n\n')
    assert.equal(event?.data.length, 20_000_000)
    // CPU time, because other load on the machine does not count.
    assert.ok(process.cpuUsage(startedAt).user < 5_000_000)
  })

  for (const lineEnd of ['\r', '\n', '\r\n']) {
    it(`searches a chunk only once for line ends if all of them are ${JSON.stringify(lineEnd)}`, (t) => {
      const text = `id: 2${lineEnd}`.repeat(1_000)
      const { indexOf } = String.prototype
      let searched = 0
      t.mock.method(String.prototype, 'indexOf', function (this: string, wanted: string, from = 0) {
        const at = indexOf.call(this, wanted, from)
        if (this.length === text.length) searched += (at < 0 ? text.length : at) - from
        return at
      })
      createSseParser(64_000_000).feed(text)
      assert.ok(searched <= 2 * text.length, `${searched} characters of ${text.length}`)
    })
  }
})
