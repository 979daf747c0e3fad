import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { it } from 'node:test'
import { createMac } from './hmac-sha256.ts'

const expected = (key: Uint8Array, text: string): string => createHmac('sha256', key).update(text).digest('hex')

it('equals the HMAC of the platform for texts of any length', async () => {
  const key = Uint8Array.from({ length: 45 }, (_, index) => index * 5)
  const mac = createMac(key)
  const alphabet = 'aé€😀"\\'.repeat(1_000)
  const lengths = [...Array(200).keys(), 2_046, 2_047, 2_048, 2_049, 5_000]
  for (const length of lengths) {
    const text = alphabet.slice(0, length)
    assert.equal(await mac(text), expected(key, text), `${length} characters`)
  }
})

it('keeps concurrent texts and keys apart', async () => {
  const keys = [new Uint8Array(64).fill(1), new Uint8Array(1), new Uint8Array(32).fill(2)]
  const texts = ['', 'one', 'x'.repeat(10_000)]
  const made = await Promise.all(keys.flatMap((key) => texts.map(async (text) => createMac(key)(text))))
  assert.deepEqual(
    made,
    keys.flatMap((key) => texts.map((text) => expected(key, text))),
  )
})

it('refuses a key that HMAC would have to hash first', () => {
  assert.throws(() => createMac(new Uint8Array(65)), /at most 64 bytes/)
})
