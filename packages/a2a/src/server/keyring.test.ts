import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KeyRow } from '../stores/store.ts'
import { createKeyring } from './keyring.ts'

function createShelf() {
  const rows: KeyRow[] = []
  return { rows, listKeys: async () => rows, saveKey: async (row: KeyRow) => void rows.push(row) }
}
const master = new Uint8Array(32).fill(7)
let clock = 0
const now = (): number => (clock += 1)

describe('the keyring', () => {
  it('knows its own signatures again after a restart, and no others', async () => {
    const shelf = createShelf()
    const signature = await createKeyring(shelf, master, now).sign('page', 'text')
    const reopened = createKeyring(shelf, master, now)
    assert.equal(await reopened.verify('page', 'text', signature), true)
    assert.equal(await reopened.verify('page', 'texts', signature), false)
    assert.equal(await reopened.verify('hop', 'text', signature), false)
    for (const garbage of ['', 'x', '!!', `${signature}A`, signature.slice(1)]) {
      assert.equal(await reopened.verify('page', 'text', garbage), false)
    }
    assert.equal(await createKeyring(createShelf(), master, now).verify('page', 'text', signature), false)
  })

  it('keeps no key in the clear when it has a master key', async () => {
    const shelf = createShelf()
    await createKeyring(shelf, master, now).open()
    assert.equal(shelf.rows.length, 1)
    assert.match(shelf.rows[0]?.material ?? '', /^a256gcm\./)
  })

  it('says what to do when the master key is another one, missing, or too short', async () => {
    const shelf = createShelf()
    await createKeyring(shelf, master, now).open()
    for (const other of [new Uint8Array(32), undefined, new Uint8Array(5)]) {
      await assert.rejects(createKeyring(shelf, other, now).open(), { name: 'ConfigError', path: 'masterKey' })
    }
  })

  it('accepts what an older key signed, and signs with the newest', async () => {
    const shelf = createShelf()
    const old = await createKeyring(shelf, undefined, now).sign('page', 'text')
    const other = createShelf()
    await createKeyring(other, undefined, now).open()
    shelf.rows.push(...other.rows)
    const both = createKeyring(shelf, undefined, now)
    assert.equal(await both.verify('page', 'text', old), true)
    assert.notEqual(await both.sign('page', 'text'), old)
  })
})
