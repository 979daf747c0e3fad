import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { partsOfResult } from './content.ts'

describe('what a tool answers', () => {
  it('is text, pictures, sounds and files, each as a part', () => {
    const parts = partsOfResult({
      content: [
        { type: 'text', text: 'Here:' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'file:///x/a.txt?v=1', text: 'words', mimeType: 'text/plain' } },
        { type: 'resource', resource: { uri: 'demo://b.gz', blob: 'CCCC' } },
        { type: 'resource_link', name: 'page', uri: 'https://example.com/p', mimeType: 'text/html' },
        { type: 'resource_link', name: 'inner', uri: 'demo://1' },
      ],
    })
    assert.deepEqual(parts, [
      { text: 'Here:' },
      { raw: 'AAAA', mediaType: 'image/png' },
      { raw: 'BBBB', mediaType: 'audio/wav' },
      { text: 'words', filename: 'a.txt', mediaType: 'text/plain' },
      { raw: 'CCCC', filename: 'b.gz' },
      { url: 'https://example.com/p', filename: 'page', mediaType: 'text/html' },
      { text: 'inner (demo://1)' },
    ])
  })

  it('is data once, though it is said as text besides', () => {
    const structuredContent = { a: 1 }
    const data = { data: { a: 1 }, mediaType: 'application/json' }
    assert.deepEqual(partsOfResult({ content: [{ type: 'text', text: '{ "a": 1 }' }], structuredContent }), [data])
    assert.deepEqual(partsOfResult({ content: [{ type: 'text', text: 'one' }], structuredContent }), [
      { text: 'one' },
      data,
    ])
  })

  it('is an empty text where it is nothing', () => {
    assert.deepEqual(partsOfResult({ content: [] }), [{ text: '' }])
  })
})
