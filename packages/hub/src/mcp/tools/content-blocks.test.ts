import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contentBlock, createSizeBudget, fileResource } from './content-blocks.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('a part as a block', () => {
  it('is what its media type says', () => {
    const block = (mediaType: string, raw = base64('hi')) =>
      contentBlock({ raw, mediaType }, 'parley://x', createSizeBudget())
    assert.deepEqual(block('image/png'), { type: 'image', data: base64('hi'), mimeType: 'image/png' })
    assert.deepEqual(block('AUDIO/wav'), { type: 'audio', data: base64('hi'), mimeType: 'AUDIO/wav' })
    for (const type of ['text/html', 'application/json', 'application/ld+json', 'application/xml; charset=utf-8']) {
      const resource = { uri: 'parley://x', mimeType: type, text: 'hi' }
      assert.deepEqual(block(type), { type: 'resource', resource })
    }
    const bytes = { uri: 'parley://x', mimeType: 'application/zip', blob: base64('hi') }
    assert.deepEqual(block('application/zip'), { type: 'resource', resource: bytes })
  })

  it('that says it is text and is none is bytes', () => {
    const raw = Buffer.from([0xff, 0xfe]).toString('base64')
    assert.deepEqual(fileResource({ raw, mediaType: 'text/plain' }, 'u'), {
      uri: 'u',
      mimeType: 'text/plain',
      blob: raw,
    })
  })

  it('in base64 that is not strict is written strictly', () => {
    const block = contentBlock({ raw: 'aGk', mediaType: 'image/png' }, undefined, createSizeBudget())
    assert.equal(block.type === 'image' ? block.data : '', 'aGk=')
  })

  it('that is an address is a link, with a name', () => {
    const link = (url: string) => contentBlock({ url }, undefined, createSizeBudget())
    const named = { type: 'resource_link', uri: 'https://x.example/a/b.pdf?c=d', name: 'b.pdf' }
    assert.deepEqual(link('https://x.example/a/b.pdf?c=d'), named)
    assert.deepEqual(link('https://x.example/'), { type: 'resource_link', uri: 'https://x.example/', name: 'file' })
  })

  it('that is too large is named, and a text is cut where there is no more room', () => {
    const raw = Buffer.alloc(2_000_000).toString('base64')
    const link = contentBlock({ raw, filename: 'a.bin' }, 'parley://x', createSizeBudget())
    assert.deepEqual([link.type, 'size' in link ? link.size : 0], ['resource_link', 2_000_000])
    const said = contentBlock({ raw, filename: 'a.bin' }, undefined, createSizeBudget())
    assert.match(said.type === 'text' ? said.text : '', /^\[a.bin: 2000000 bytes of application\/octet-stream/)
    const room = { left: 10 }
    const cut = contentBlock({ text: 'x'.repeat(20) }, 'parley://x', room)
    assert.equal(
      cut.type === 'text' ? cut.text : '',
      `${'x'.repeat(10)}\n[cut after 10 of 20 characters, all of it is at parley://x]`,
    )
    assert.equal(room.left, 0)
  })

  it('that is data is JSON that people can read', () => {
    assert.deepEqual(contentBlock({ data: { a: 1 } }, undefined, createSizeBudget()), {
      type: 'text',
      text: '{\n  "a": 1\n}',
    })
  })
})
