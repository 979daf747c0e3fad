/** A case of `npm run bench -- --micro` ends with the comment that it measures. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { claims, filesOf } from './claims.ts'

it('every measured claim is the comment of a file', async () => {
  for await (const claim of claims()) {
    assert.ok(filesOf(claim).length > 0, `no comment says "${claim.says}" any more: remove its case`)
    await claim.now()
    await claim.instead?.()
  }
})
