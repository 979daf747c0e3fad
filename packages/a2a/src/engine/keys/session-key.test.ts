import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import { sha256 } from './hmac-sha256.ts'
import { sessionKey } from '../turn/turn.ts'

const turn = { tenant: 'acme', caller: { id: 'ann' }, task: { contextId: 'c1' } }

describe('the session key of a turn', () => {
  it('is the same for the same caller, agent and context', () => {
    assert.equal(sessionKey(turn, 'bot'), sessionKey({ ...turn }, 'bot'))
  })

  it('differs as soon as tenant, caller, agent or context does', () => {
    const others = [
      sessionKey({ ...turn, tenant: 'other' }, 'bot'),
      sessionKey({ ...turn, caller: { id: 'bob' } }, 'bot'),
      sessionKey({ ...turn, task: { contextId: 'C1' } }, 'bot'),
      sessionKey(turn, 'bot2'),
      // Concatenated without a separator, these two would be equal.
      sessionKey({ tenant: 'acm', caller: { id: 'eann' }, task: { contextId: 'c1' } }, 'bot'),
    ]
    assert.equal(new Set([...others, sessionKey(turn, 'bot')]).size, 6)
  })

  it('is lower-case hex and tells nothing of whose it is', () => {
    assert.match(sessionKey(turn, 'bot'), /^[0-9a-f]{40}$/)
  })

  it('uses the SHA-256 of the platform, for texts of any length', () => {
    const alphabet = 'aé€😀"\\'.repeat(1_000)
    for (const length of [...Array(200).keys(), 5_000]) {
      const text = alphabet.slice(0, length)
      assert.equal(sha256(text), hash('sha256', text), `${length} characters`)
    }
  })
})
