/** `GET /admin/logs`: what a reader gets first, and after it was disconnected. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { logRoutes } from '../../packages/hub/src/admin/routes/logs.ts'
import { createLogBuffer } from '../../packages/hub/src/telemetry/logs/log-buffer.ts'
import type { StreamRoute } from '../../packages/hub/src/admin/route.ts'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

async function openLog(t: TestContext, query: { tail: number; level: string; follow: string }) {
  const logBuffer = createLogBuffer()
  const closing = new AbortController()
  const [route] = logRoutes({ logBuffer, closing: closing.signal })
  const server = createServer((request, response) => {
    const left = new AbortController()
    response.once('close', () => left.abort())
    const header = (name: string): string | undefined => request.headers[name] as string | undefined
    const input = {
      query,
      request: { header, method: 'GET' },
      signal: left.signal,
      params: {},
      body: undefined,
      who: {},
    }
    void (route as unknown as StreamRoute).stream(input as never, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    closing.abort()
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { logBuffer, url, read: (lastId?: string) => fetch(url, lastId === undefined ? {} : { headers: { 'last-event-id': lastId } }) } // prettier-ignore
}

const add = (logBuffer: { add(level: 'info', json: string): void }, from: number, to: number): void => {
  for (let line = from; line <= to; line += 1) logBuffer.add('info', JSON.stringify({ line }))
}

const linesOf = (text: string): readonly number[] => [...text.matchAll(/"line":(\d+)/g)].map(([, line]) => Number(line))

describe('the log of a hub', () => {
  it('begins with the last lines, and resumes after the line that was received last', async (t) => {
    const { logBuffer, read } = await openLog(t, { tail: 2, level: 'debug', follow: 'no' })
    add(logBuffer, 1, 5)
    const first = await (await read()).text()
    assert.deepEqual(linesOf(first), [4, 5])
    const id = first
      .match(/id: (\S+)/g)
      ?.at(-1)
      ?.slice('id: '.length)
    assert.deepEqual(linesOf(await (await read(id)).text()), [])
    add(logBuffer, 6, 9)
    assert.deepEqual(linesOf(await (await read(id)).text()), [6, 7, 8, 9], 'also more than the tail')
    assert.deepEqual(linesOf(await (await read('0badf00d-9')).text()), [8, 9], 'an id of another process')
  })

  it('sends a full buffer, and then each new line once', async (t) => {
    const { logBuffer, read } = await openLog(t, { tail: 1_000, level: 'debug', follow: 'yes' })
    for (let line = 1; line <= 300; line += 1) logBuffer.add('info', JSON.stringify({ line, text: 'é'.repeat(3_300) }))
    const response = await read()
    const reader = (response.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const untilLine = async (line: number): Promise<void> => {
      while (!text.includes(`"line":${line}`)) {
        const { value, done } = await reader.read()
        assert.equal(done, false)
        text += value
      }
    }
    await untilLine(300)
    add(logBuffer, 301, 301)
    await untilLine(301)
    assert.equal(new Set(linesOf(text)).size, linesOf(text).length)
    await reader.cancel()
  })
})
