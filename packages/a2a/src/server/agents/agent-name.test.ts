import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { validateAgentName } from '../check-options.ts'
import { ConfigError } from '../config-error.ts'
import { createHandler } from '../handler.ts'

const reserved = 'tasks agents agent v1 admin api mcp healthz readyz metrics agent-card extendedAgentCard'.split(' ')

describe("an agent's name", () => {
  it('is valid exactly if the server accepts it', async () => {
    const names = [
      'gpt',
      'a.b_c~d-e',
      'x'.repeat(64),
      'x'.repeat(65),
      '.well-known',
      '-a',
      'a b',
      'a/b',
      'ä',
      ...reserved,
    ]
    for (const name of names) {
      const store = memoryStore()
      let isTaken = true
      try {
        await createHandler({ store, agents: { [name]: () => 'hi' } }).close()
      } catch (reason) {
        assert.ok(reason instanceof ConfigError)
        isTaken = false
      }
      assert.equal(validateAgentName(name) === undefined, isTaken, name)
    }
  })
})
