import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { credentialsExtension, cursorExtension, timestampsExtension, traceExtension } from '@parley/a2a'
import type { AgentCard } from '@parley/a2a'
import { requestedExtensions, forwardedExtensions, forwardedMetadata } from './hop-by-hop.ts'

const mood = 'https://example.com/mood'

describe('what is forwarded from one hop to the next', () => {
  it('is metadata, but not what tells of the line itself', () => {
    const ofTheLine = { [cursorExtension]: { cursor: '1' }, [timestampsExtension]: { at: 'x' }, [traceExtension]: {} }
    assert.equal(forwardedMetadata({ ...ofTheLine, traceId: 'x', spanId: 'y' }), undefined)
    assert.deepEqual(
      forwardedMetadata({ ...ofTheLine, traceId: 'x', [credentialsExtension]: { type: 'credentials' } }),
      {
        [credentialsExtension]: { type: 'credentials' },
      },
    )
    assert.deepEqual(forwardedMetadata({ traceId: 'of another peer' }), { traceId: 'of another peer' })
    assert.equal(forwardedMetadata(undefined), undefined)
  })

  it('are the extensions of a message, but for those of the line', () => {
    assert.deepEqual(forwardedExtensions([mood, cursorExtension]), [mood])
    assert.deepEqual(forwardedExtensions(undefined), [])
  })

  it('are the extensions that both ends know [B-142]', () => {
    const cardOf = (...extensions: readonly { uri: string; required?: boolean }[]) =>
      ({ capabilities: { extensions } }) as unknown as AgentCard
    const turn = { extensions: [mood], message: { extensions: [credentialsExtension, cursorExtension] } }
    const all = cardOf({ uri: mood }, { uri: credentialsExtension }, { uri: cursorExtension }, { uri: 'urn:x' })
    assert.deepEqual(requestedExtensions(all, turn, []), [mood, credentialsExtension])
    assert.deepEqual(requestedExtensions(cardOf(), turn, [mood]), [])
    const strict = cardOf({ uri: 'urn:x', required: true })
    assert.deepEqual(requestedExtensions(strict, turn, []), [])
    assert.deepEqual(requestedExtensions(strict, turn, ['urn:x']), ['urn:x'])
  })
})
