import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PromptCapabilities } from '@agentclientprotocol/sdk'
import type { Part } from '@parley/a2a'
import { createPartReader } from '../part-reader.ts'
import { createAcpPrompt } from './prompt.ts'

const bytes = createPartReader({ guardedFetch: async () => new Response('fetched') })
const blocks = (takes: PromptCapabilities, ...parts: readonly Part[]) =>
  createAcpPrompt({ parts }, takes, bytes, new AbortController().signal)
const raw = (text: string, mediaType: string, filename = 'f'): Part => ({
  raw: Buffer.from(text).toString('base64'),
  mediaType,
  filename,
})

describe('a prompt', () => {
  it('has text as it is and data as JSON', async () => {
    assert.deepEqual(await blocks({}, { text: 'hi' }, { data: { n: 1 } }), [
      { type: 'text', text: 'hi' },
      { type: 'text', text: '{\n  "n": 1\n}' },
    ])
  })

  it('has images, sounds and files as the agent takes them', async () => {
    const takes = { image: true, audio: true, embeddedContext: true }
    const given = await blocks(
      takes,
      raw('i', 'image/png'),
      raw('s', 'audio/wav'),
      raw('t', 'text/csv', 'a b.csv'),
      raw('b', 'application/pdf'),
    )
    assert.deepEqual(given, [
      { type: 'image', data: 'aQ==', mimeType: 'image/png' },
      { type: 'audio', data: 'cw==', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'attachment:///a%20b.csv', mimeType: 'text/csv', text: 't' } },
      { type: 'resource', resource: { uri: 'attachment:///f', mimeType: 'application/pdf', blob: 'Yg==' } },
    ])
  })

  it('has what it can where the agent takes less, and is refused where it cannot', async () => {
    assert.deepEqual(await blocks({}, raw('{}', 'application/json', 'x.json')), [
      { type: 'text', text: 'x.json:\n\n{}' },
    ])
    const asFile = await blocks({ embeddedContext: true }, raw('i', 'image/png', 'i.png'))
    assert.equal(asFile[0]?.type, 'resource')
    await assert.rejects(blocks({}, raw('i', 'image/png')), { code: 'CONTENT_TYPE_NOT_SUPPORTED' })
  })

  it('takes what is no text for what it is', async () => {
    const broken: Part = { raw: Buffer.from([0xff, 0xfe]).toString('base64'), mediaType: 'text/plain', filename: 'x' }
    assert.deepEqual(await blocks({ embeddedContext: true }, broken), [
      { type: 'resource', resource: { uri: 'attachment:///x', mimeType: 'text/plain', blob: '//4=' } },
    ])
  })

  it('brings what is behind an address itself', async () => {
    const url: Part = { url: 'https://files.example.com/n.txt', mediaType: 'text/plain' }
    assert.deepEqual(await blocks({}, url), [{ type: 'text', text: 'n.txt:\n\nfetched' }])
  })
})
