import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Part } from '@parley/a2a'
import { createPartReader } from '../part-reader.ts'
import { createContentReader } from './content.ts'
import type { OpenaiEntry } from './entry.ts'

const { signal } = new AbortController()
const pages: Record<string, [string, string]> = {
  'https://cats.test/a.png': ['image/png', 'cat'],
  'https://cats.test/notes': ['text/markdown', '# Cats'],
}
const bytes = createPartReader({
  guardedFetch: (input) => {
    const [type, body] = pages[input as string] ?? []
    return Promise.resolve(
      new Response(body ?? null, { status: body === undefined ? 404 : 200, headers: { 'content-type': type ?? '' } }),
    )
  },
})
const reader = (more: Partial<OpenaiEntry> = {}) =>
  createContentReader({ inputs: ['image', 'audio', 'file'], urls: 'fetch', ...more }, bytes)
const raw = (content: string | Buffer, about: { mediaType?: string; filename?: string } = {}): Part => ({
  raw: Buffer.from(content).toString('base64'),
  ...about,
})
const encoded = (text: string): string => Buffer.from(text).toString('base64')

describe('parts for a model', () => {
  it('are text as text, data as JSON, and files of text inlined under their names', async () => {
    const parts: Part[] = [
      { text: 'Hello' },
      { data: { a: 1 } },
      raw('a,b', { mediaType: 'text/csv', filename: 'x.csv' }),
      { url: 'https://cats.test/notes' },
      { text: 'a ```` b', filename: 'fence.md' },
    ]
    const texts = (await reader().read(parts, signal)).map((content) => content.type === 'text' && content.text)
    assert.deepEqual(texts, [
      'Hello',
      'data.json:\n```\n{\n  "a": 1\n}\n```',
      'x.csv:\n```\na,b\n```',
      'notes:\n```\n# Cats\n```',
      'fence.md:\n`````\na ```` b\n`````',
    ])
  })

  it('are images, sounds and documents, each in its own way, fetched by the hub', async () => {
    const parts: Part[] = [
      raw('pixels', { mediaType: 'image/jpeg' }),
      { url: 'https://cats.test/a.png' },
      raw('sound', { mediaType: 'audio/mpeg' }),
      raw('paper', { mediaType: 'application/pdf', filename: 'p.pdf' }),
    ]
    assert.deepEqual(await reader().read(parts, signal), [
      { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${encoded('pixels')}` } },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${encoded('cat')}` } },
      { type: 'input_audio', input_audio: { data: encoded('sound'), format: 'mp3' } },
      { type: 'file', file: { filename: 'p.pdf', file_data: `data:application/pdf;base64,${encoded('paper')}` } },
    ])
    const passed = await reader({ urls: 'pass' }).read([{ url: 'https://x.test/i', mediaType: 'image/png' }], signal)
    assert.deepEqual(passed, [{ type: 'image_url', image_url: { url: 'https://x.test/i' } }])
  })

  it('are detected by their first bytes if no media type is given', async () => {
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2])
    const wav = Buffer.from('RIFF\x01\x02\x03\x04WAVEfmt', 'latin1')
    const kinds = await reader().read([raw(png), raw(wav), raw('%PDF-1.7'), raw('plain words')], signal)
    assert.deepEqual(
      kinds.map(({ type }) => type),
      ['image_url', 'input_audio', 'file', 'text'],
    )
    await assert.rejects(reader().read([raw(Buffer.from([0, 1, 0xff]))], signal), {
      code: 'CONTENT_TYPE_NOT_SUPPORTED',
    })
  })

  it('are refused by name where the model cannot take them [B-70]', async () => {
    const refused = [raw('x', { mediaType: 'video/mp4' }), raw('x', { mediaType: 'audio/ogg' })]
    for (const part of refused)
      await assert.rejects(reader().read([{ text: 'a' }, part], signal), {
        code: 'CONTENT_TYPE_NOT_SUPPORTED',
        message: /video\/mp4|audio\/ogg/,
      })
    const blind = reader({ inputs: [] })
    assert.ok(!blind.inputModes.includes('image/*'))
    await assert.rejects(blind.read([raw('x', { mediaType: 'image/png' })], signal), {
      code: 'CONTENT_TYPE_NOT_SUPPORTED',
    })
  })

  it('that cannot be had are an error of the message', async () => {
    await assert.rejects(reader().read([{ url: 'https://cats.test/none' }], signal), { code: 'INVALID_PARAMS' })
  })
})
