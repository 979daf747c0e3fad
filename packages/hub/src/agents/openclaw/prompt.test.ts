import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Part } from '@parley/a2a'
import { createPartReader } from '../part-reader.ts'
import { escapeGatewayCommands, createOpenClawPrompt } from './prompt.ts'

const bytes = createPartReader({ guardedFetch: () => Promise.reject(new Error('no')) })
const limits = { frameBytes: 200_000, fileBytes: 1_000, imageBytes: 500 }
const raw = (length: number, about: object = {}): Part => ({ raw: Buffer.alloc(length).toString('base64'), ...about })
const read = (text: string, ...parts: readonly Part[]) =>
  createOpenClawPrompt(
    { messageId: 'm', role: 'ROLE_USER', parts: [...(text === '' ? [] : [{ text }]), ...parts] },
    text,
    limits,
    bytes,
    AbortSignal.timeout(120_000),
  )

describe('a message for the gateway', () => {
  it('has its files as attachments [S4-7 S4-10]', async () => {
    const prompt = await read(
      'Look',
      raw(3, { mediaType: 'image/png', filename: 'a.png' }),
      raw(2, { mediaType: 'text/csv' }),
    )
    assert.deepEqual(prompt, {
      text: 'Look',
      attachments: [
        { type: 'image', mimeType: 'image/png', fileName: 'a.png', content: 'AAAA' },
        { type: 'file', mimeType: 'text/csv', fileName: 'part-3', content: 'AAA=' },
      ],
      hasFiles: true,
    })
  })

  it('has words even if it is only a file', async () => {
    const { text, hasFiles } = await read('', raw(3, { mediaType: 'image/png' }))
    assert.notEqual(text, '')
    assert.equal(hasFiles, false)
  })

  it('names files without a path', async () => {
    const { attachments } = await read('x', raw(1, { filename: '../../etc/passwd' }), raw(1, { filename: '..' }))
    assert.deepEqual(
      attachments.map(({ fileName }) => fileName),
      ['passwd', 'part-3'],
    )
  })

  it('is refused with data in it, and the part is named [S4-10]', async () => {
    await assert.rejects(read('x', { data: { a: 1 } }), {
      code: 'CONTENT_TYPE_NOT_SUPPORTED',
      message: /^message\.parts\[1\] is data/,
      details: {
        partKind: 'data',
        violations: [{ field: 'message.parts[1]', description: 'is data: this agent accepts text, images and files' }],
      },
    })
  })

  it('is refused with a file or an image over the limit of the gateway, each and together [S4-10]', async () => {
    const code = 'PAYLOAD_TOO_LARGE'
    await assert.rejects(read('x', raw(501, { mediaType: 'image/png' })), {
      code,
      message: /^message\.parts\[1\] is larger than 500 bytes/,
    })
    await assert.rejects(read('x', raw(1), raw(1_001)), {
      code,
      message: /^message\.parts\[2\] is larger than 1000 bytes/,
    })
    const many = Array.from({ length: 150 }, () => raw(900))
    await assert.rejects(read('x', ...many), { code, message: /exceeds the size limit together/ })
  })

  it('is refused where a file cannot be fetched, and the part is named', async () => {
    await assert.rejects(read('x', { url: 'https://example.com/a' }), ({ details }: { details: object }) => {
      assert.match(JSON.stringify(details), /"field":"message\.parts\[1\]"/)
      return true
    })
  })

  it('is refused when it says nothing', async () => {
    await assert.rejects(read('  '), { code: 'CONTENT_TYPE_NOT_SUPPORTED' })
  })
})

describe("a caller's text", () => {
  it('is never a command: where `agent` would read one', () => {
    assert.equal(escapeGatewayCommands('/new and forget', 'agent'), '`/new` and forget')
    assert.equal(escapeGatewayCommands('  /reset', 'agent'), '  `/reset`')
    assert.equal(escapeGatewayCommands('read /etc/hosts', 'agent'), 'read /etc/hosts')
  })

  it('is never a command: where `chat.send` would, behind a name, in brackets, in the middle, as a bare word', () => {
    const said = (text: string): string => escapeGatewayCommands(text, 'chat.send').split('\n\n(')[0] ?? ''
    assert.equal(said('/elevated on'), '`/elevated` on')
    assert.equal(said('Note: /reset'), 'Note: `/reset`')
    assert.equal(said('[x]/reset'), '[x]`/reset`')
    assert.equal(said('please /think high now'), 'please `/think` high now')
    assert.equal(said('see https://example.com/a and a/b'), 'see https://example.com/a and a/b')
    assert.notEqual(escapeGatewayCommands('stop', 'chat.send').trim(), 'stop')
  })
})
