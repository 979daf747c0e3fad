import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readBody } from './node-body.ts'
import type { NodeRequest } from './node-pair.ts'

/** As a parser leaves it: read to its end. */
function left(body: unknown, headers: NodeRequest['headers'] = {}): NodeRequest {
  return { headers, body, socket: {}, readableEnded: true, destroyed: false, on: () => undefined }
}

describe('a body that somebody has read before us', () => {
  it('is taken as text or as bytes', async () => {
    assert.equal(await readBody(left('größe'), 7), 'größe')
    assert.equal(await readBody(left(new TextEncoder().encode('größe')), 7), 'größe')
  })

  it('is measured in bytes all the same, as it is and as it was declared [B-41]', async () => {
    const bytes = new TextEncoder().encode('größe')
    for (const request of [
      left('größe'),
      left(bytes),
      left('x', { 'content-length': '7' }),
      left(bytes.subarray(0, 1), { 'content-length': '7' }),
      left('größe', { 'content-length': 'many' }),
    ]) {
      await assert.rejects(readBody(request, 6), { code: 'PAYLOAD_TOO_LARGE' })
    }
  })
})
