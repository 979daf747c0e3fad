import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nearestName } from './command-line.ts'

describe('the word that was meant', () => {
  const known = ['baseUrl', 'apiKey', 'model', 'timeout']

  it('is found through case, dashes and slips', () => {
    const found = ['baseURL', 'api_key', 'api-key', 'modle', 'timout', 'timeouts'].map((word) =>
      nearestName(word, known),
    )
    assert.deepEqual(found, ['baseUrl', 'apiKey', 'apiKey', 'model', 'timeout', 'timeout'])
  })

  it('is found by its first word', () => {
    assert.equal(nearestName('agent', ['card', 'agent-card']), 'agent-card')
  })

  it('is not made up', () => {
    assert.deepEqual(
      ['temperature', 'mo', 'x', 'url'].map((word) => nearestName(word, known)),
      [undefined, undefined, undefined, undefined],
    )
  })
})
