import assert from 'node:assert/strict'
import { it } from 'node:test'
import { artifact, authRequired, data, fail, file, inputRequired, reject, reply, status } from './reports.ts'

it('creates plain objects', () => {
  assert.deepEqual(data({ rows: 42 }), { data: { rows: 42 } })
  assert.deepEqual(data(null, { mediaType: 'application/x' }), { data: null, mediaType: 'application/x' })
  assert.deepEqual(status('Reading', { page: 3 }), {
    state: 'TASK_STATE_WORKING',
    message: 'Reading',
    metadata: { page: 3 },
  })
  assert.deepEqual(inputRequired('Which?'), { state: 'TASK_STATE_INPUT_REQUIRED', message: 'Which?' })
  assert.deepEqual(authRequired('Sign in'), {
    state: 'TASK_STATE_AUTH_REQUIRED',
    message: { parts: [{ text: 'Sign in' }] },
  })
  assert.deepEqual(reject('No'), { state: 'TASK_STATE_REJECTED', message: 'No' })
  assert.deepEqual(fail('Down'), { state: 'TASK_STATE_FAILED', message: 'Down' })
  assert.deepEqual(reply('Hi'), { reply: 'Hi' })
})

it('creates a file from bytes, from a buffer of any size, or from a URL', () => {
  const bytes = new TextEncoder().encode('ABC')
  assert.deepEqual(file(bytes, { name: 'a.txt', mediaType: 'text/plain', metadata: { n: 1 } }), {
    raw: 'QUJD',
    filename: 'a.txt',
    mediaType: 'text/plain',
    metadata: { n: 1 },
  })
  assert.deepEqual(file(bytes.buffer), { raw: 'QUJD' })
  assert.deepEqual(file(new Uint8Array()), { raw: '' })
  assert.deepEqual(file('https://example.com/a'), { url: 'https://example.com/a' })
  assert.deepEqual(file(new URL('https://example.com/a')), { url: 'https://example.com/a' })
  // Lengths around and far over the argument limit of one call.
  for (const length of [32_767, 32_768, 32_769, 1_000_001]) {
    const large = Uint8Array.from({ length }, (_, index) => index % 256)
    assert.deepEqual(Buffer.from((file(large) as { raw: string }).raw, 'base64'), Buffer.from(large))
  }
  // A view of part of a buffer is that part.
  assert.deepEqual(file(new Uint8Array(bytes.buffer, 1, 1)), { raw: 'Qg==' })
})

it('creates an artifact as a whole, in chunks, and closes it with an empty chunk', () => {
  assert.deepEqual(
    artifact('report', {
      text: 'a',
      data: 1,
      parts: [{ url: 'https://x' }],
      name: 'n',
      description: 'd',
      metadata: { m: 1 },
    }),
    {
      artifact: {
        artifactId: 'report',
        name: 'n',
        description: 'd',
        parts: [{ url: 'https://x' }, { text: 'a' }, { data: 1 }],
        metadata: { m: 1 },
      },
    },
  )
  assert.deepEqual(artifact('report', { text: 'b', append: true }), {
    artifact: { artifactId: 'report', parts: [{ text: 'b' }] },
    append: true,
  })
  assert.deepEqual(artifact('report', { text: 'all', last: true }), {
    artifact: { artifactId: 'report', parts: [{ text: 'all' }] },
    lastChunk: true,
  })
  assert.deepEqual(artifact('report', { last: true }), {
    artifact: { artifactId: 'report', parts: [{ text: '' }] },
    append: true,
    lastChunk: true,
  })
})
