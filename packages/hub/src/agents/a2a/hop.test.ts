import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { credentialsExtension, cursorExtension, timestampsExtension, traceExtension } from '@parley/a2a'
import type { AgentCard } from '@parley/a2a'
import { extensionsFor, extensionsOnward, metadataOnward } from './hop.ts'

const mood = 'https://example.com/mood'

describe('what goes from one line to the next', () => {
  it('is metadata, but not what tells of the line itself', () => {
    const ofTheLine = { [cursorExtension]: { cursor: '1' }, [timestampsExtension]: { at: 'x' }, [traceExtension]: {} }
    assert.equal(metadataOnward({ ...ofTheLine, traceId: 'x', spanId: 'y' }), undefined)
    assert.deepEqual(metadataOnward({ ...ofTheLine, traceId: 'x', [credentialsExtension]: { type: 'credentials' } }), {
      [credentialsExtension]: { type: 'credentials' },
    })
    assert.deepEqual(metadataOnward({ traceId: 'of somebody else' }), { traceId: 'of somebody else' })
    assert.equal(metadataOnward(undefined), undefined)
  })

  it('are the extensions of a message, but for those of the line', () => {
    assert.deepEqual(extensionsOnward([mood, cursorExtension]), [mood])
    assert.deepEqual(extensionsOnward(undefined), [])
  })

  it('are the extensions that both ends know [B-142]', () => {
    const cardOf = (...extensions: readonly { uri: string; required?: boolean }[]) =>
      ({ capabilities: { extensions } }) as unknown as AgentCard
    const turn = { extensions: [mood], message: { extensions: [credentialsExtension, cursorExtension] } }
    const all = cardOf({ uri: mood }, { uri: credentialsExtension }, { uri: cursorExtension }, { uri: 'urn:x' })
    assert.deepEqual(extensionsFor(all, turn, []), [mood, credentialsExtension])
    assert.deepEqual(extensionsFor(cardOf(), turn, [mood]), [])
    const strict = cardOf({ uri: 'urn:x', required: true })
    assert.deepEqual(extensionsFor(strict, turn, []), [])
    assert.deepEqual(extensionsFor(strict, turn, ['urn:x']), ['urn:x'])
  })
})
