import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { callerName } from './caller-names.ts'

const keys = { nameOf: async (id: string) => (id === 'a1' ? 'Night build' : undefined) }

describe('the name of a caller', () => {
  it('is that of its key, with the agent that delegates on its behalf; others have none', async () => {
    for (const [principal, expected] of [
      ['key:a1', 'Night build'],
      ['agent:front|key:a1', 'front for Night build'],
      ['agent:back|agent:front|key:a1', 'back for Night build'],
      ['key:unknown', undefined],
      ['agent:front|console|admin', undefined],
      ['ann', undefined],
    ] as const)
      assert.equal(await callerName(principal, keys), expected, principal)
  })
})
