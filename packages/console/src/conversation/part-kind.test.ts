import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Part } from '@parley/a2a'
import { decodeBase64, mediaTypeOf, partKindOf, base64ByteLength, safeFileName, textFileKind } from './part-kind.ts'
import { safeHref } from '../components/content/safe-href.ts'

const byAgent = (part: Part): string => partKindOf(part, true)

describe('a part', () => {
  it('is displayed by its declared type', () => {
    const kinds: readonly (readonly [Part, string])[] = [
      [{ text: '# Hi' }, 'markdown'],
      [{ text: 'x', mediaType: 'text/markdown; charset=utf-8' }, 'markdown'],
      [{ text: 'x', filename: 'a.md' }, 'markdown'],
      [{ text: 'x', mediaType: 'text/plain' }, 'text'],
      [{ text: '<b>', mediaType: 'text/html' }, 'code'],
      [{ text: 'x', filename: 'main.py' }, 'code'],
      [{ text: '{"a":1}', mediaType: 'application/json' }, 'json'],
      [{ text: '{"a":', mediaType: 'application/json' }, 'code'],
      [{ text: '[]', mediaType: 'application/ld+json' }, 'json'],
      [{ text: 'a,b\n1,2', mediaType: 'text/csv; header=present' }, 'csv'],
      [{ text: 'a\tb', filename: 'a.tsv' }, 'csv'],
      [{ data: { a: 1 } }, 'json'],
      [{ data: null }, 'json'],
      [{ data: [{ a: 1 }, { a: 2, b: null }] }, 'table'],
      [{ raw: 'AA==', mediaType: 'image/png' }, 'image'],
      [{ raw: 'AA==', mediaType: 'image/svg+xml' }, 'image'],
      [{ raw: 'AA==', mediaType: 'image/x-whatever' }, 'file'],
      [{ raw: 'AA==', mediaType: 'audio/ogg' }, 'audio'],
      [{ raw: 'AA==', mediaType: 'video/mp4' }, 'video'],
      [{ raw: 'AA==' }, 'file'],
      [{ raw: 'AA==', filename: 'a.PNG', mediaType: 'application/octet-stream' }, 'image'],
      [{ raw: btoa('%PDF-1.7'), mediaType: 'application/pdf' }, 'pdf'],
      [{ raw: btoa('<script>'), mediaType: 'application/pdf' }, 'file'],
      [{ raw: 'A'.repeat(30_000_000), mediaType: 'image/png' }, 'file'],
      [{ url: 'https://example.com/a.png', mediaType: 'image/png' }, 'link'],
      [{ thing: 1 } as unknown as Part, 'unknown'],
    ]
    for (const [part, kind] of kinds) assert.equal(byAgent(part), kind, JSON.stringify(part).slice(0, 100))
  })

  it('of a user is plain text', () => {
    assert.equal(partKindOf({ text: '# Hi' }, false), 'text')
  })
})

describe('a file', () => {
  it('has a size without decoding, and bytes from any base64', () => {
    assert.equal(base64ByteLength(Buffer.from('hello').toString('base64')), 5)
    assert.deepEqual(decodeBase64('_-8'), new Uint8Array([255, 239]))
    assert.equal(decodeBase64('not base64!'), undefined)
  })

  it('has a type, declared or by its name', () => {
    assert.equal(mediaTypeOf({ mediaType: 'Text/CSV; charset=utf-8', filename: 'a.png' }), 'text/csv')
    assert.equal(mediaTypeOf({ filename: 'song.mp3' }), 'audio/mpeg')
    assert.equal(mediaTypeOf({ filename: 'a.exe' }), '')
    assert.equal(textFileKind('', 'a.tsv'), 'csv')
    assert.equal(textFileKind('application/vnd.x+json', ''), 'json')
    assert.equal(textFileKind('text/html', 'a.html'), 'code')
  })

  it('has a safe name', () => {
    assert.equal(safeFileName('../../etc/passwd', 'file'), '_.._etc_passwd')
    assert.equal(safeFileName('a<b>\u0000.txt', 'file'), 'a_b_.txt')
    assert.equal(safeFileName('...', 'file'), 'file')
    assert.equal(safeFileName('report.pdf', 'file'), 'report.pdf')
  })
})

describe('an address of an agent', () => {
  it('is a link only to pages and email', () => {
    assert.equal(safeHref('https://example.com/a b'), 'https://example.com/a%20b')
    assert.equal(safeHref('mailto:a@example.com'), 'mailto:a@example.com')
    const bad = [
      'javascript:alert(1)',
      ' javascript:alert(1)',
      'data:text/html,x',
      'blob:x',
      'file:///etc/passwd',
      '/admin',
      'https://',
    ]
    for (const url of bad) assert.equal(safeHref(url), undefined, url)
  })
})
