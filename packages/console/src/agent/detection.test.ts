import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { detectedAs } from './detection.ts'

describe('a detected agent', () => {
  it('has a secret with the name that the user chooses for the agent', () => {
    const found = { name: 'tiny', entry: { model: 'tiny', apiKey: '${hub:tiny-token}' }, secret: 'tiny-token' }
    const { entry, secret } = found
    assert.deepEqual(detectedAs(found, 'helper'), {
      entry: { model: 'tiny', apiKey: '${hub:helper-token}' },
      secret: 'helper-token',
    })
    assert.deepEqual(detectedAs(found, ''), { entry, secret })
    assert.deepEqual(detectedAs({ name: 'tiny', entry }, 'helper'), { entry, secret: undefined })
  })
})
