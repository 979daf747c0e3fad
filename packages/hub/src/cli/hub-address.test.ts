import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { recordedAddress, recordHubAddress } from './hub-address.ts'

describe('the recorded address of a hub', () => {
  it('counts only in a private file, as a hub writes it', { skip: process.platform === 'win32' }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-address-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'parley.address')
    writeFileSync(file, 'http://elsewhere.test:3000\n')
    chmodSync(file, 0o644)
    assert.equal(await recordedAddress(folder), undefined)
    const forget = await recordHubAddress(folder, 'http://127.0.0.1:3000')
    assert.equal(await recordedAddress(folder), 'http://127.0.0.1:3000')
    await forget()
    assert.equal(await recordedAddress(folder), undefined)
  })
})
