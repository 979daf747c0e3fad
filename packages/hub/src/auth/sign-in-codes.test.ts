import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { createSignInCodes } from './sign-in-codes.ts'

const granted = { subject: 'admin', grant: { by: 'key', mark: 'the mark' } } as const

/** Seals nothing: the real one is the server's. */
const sealer = {
  seal: async (purpose: string, text: string, context = '') => `${purpose} ${context} ${text}`,
  unseal: async (purpose: string, sealed: string, context = '') => sealed.slice(`${purpose} ${context} `.length),
}

function scene() {
  let time = 1_000
  const now = (): number => time
  const { kv } = memoryStore({ now })
  const open = () => createSignInCodes({ kv, secrets: async () => sealer, now })
  return { kv, open, pass: (ms: number) => (time += ms) }
}

describe('a one-time sign-in code', () => {
  it('is redeemed once, by any replica', async () => {
    const { open } = scene()
    const { code } = await open().create(granted)
    const redeemed = await Promise.all([open().redeem(code), open().redeem(code), open().redeem(code)])
    assert.deepEqual(
      redeemed.filter((one) => one !== undefined),
      [granted],
    )
    assert.equal(await open().redeem(code), undefined)
  })

  it('ends after a minute', async () => {
    const { open, pass } = scene()
    const codes = open()
    const [early, late] = [await codes.create(granted), await codes.create(granted)]
    assert.equal(early.expiresAt, 61_000)
    pass(59_999)
    assert.deepEqual(await codes.redeem(early.code), granted)
    pass(1)
    assert.equal(await codes.redeem(late.code), undefined)
  })

  it('cannot be guessed, and is not in the store', async () => {
    const { open, kv } = scene()
    const { code } = await open().create(granted)
    assert.equal(Buffer.from(code, 'base64url').length, 32)
    assert.ok(!JSON.stringify(await kv.list('sign-in-code', { limit: 10 })).includes(code))
    for (const wrong of ['', 'x', `${code}x`, code.toLowerCase()]) assert.equal(await open().redeem(wrong), undefined)
  })
})
