/** A hub on PostgreSQL whose master key is not the one that the database was first opened with. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { verifyMasterKey } from '@parley/a2a/internal'
import { ConfigError } from '@parley/a2a/server'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()

describe('the master key of a store on PostgreSQL', { skip }, async () => {
  if (skip !== false) return
  const { open } = await openDatabase()

  it('is checked from the first start on, and another one is refused with a message', async () => {
    await verifyMasterKey(open())
    await verifyMasterKey(open())
    await assert.rejects(verifyMasterKey(open({ masterKey: randomBytes(32) })), (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      assert.match(
        error.message,
        /^masterKey: The key \S+ in the store was wrapped by a different master key.*PostgreSQL/,
      )
      return true
    })
  })
})
