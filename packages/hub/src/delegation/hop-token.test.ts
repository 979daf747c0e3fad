import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { generateKeyPair } from 'jose'
import { A2AError } from '@parley/a2a'
import type { Chain } from './chain.ts'
import { signHopToken } from './hop-token.ts'

const chain: Chain = { root: 'r', subject: 's', parent: 'p', visited: ['https://a.test#x'], tasks: 3, scopes: {} }
const order = { issuer: 'https://a.test', audience: 'https://b.test#y', messageId: 'm', now: Date.now() }

describe('a hop token', () => {
  it('that would be longer than receivers accept is not made: the call is refused and not sent without it', async () => {
    const key = { kid: 'hop.1', ...(await generateKeyPair('ES256')) }
    const sized = (characters: number): Promise<string> =>
      signHopToken({ ...chain, token: 'x'.repeat(characters) }, order, key)
    assert.ok((await sized(24_000)).length <= 32_768)
    await assert.rejects(sized(24_600), (reason: unknown) => {
      assert.ok(reason instanceof A2AError)
      assert.deepEqual([reason.code, reason.details.reason], ['UNSUPPORTED_OPERATION', 'DELEGATION_TOKEN_SIZE'])
      return true
    })
  })
})
