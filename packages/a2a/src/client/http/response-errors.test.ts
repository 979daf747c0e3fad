/** What is kept of a page that came in place of a response. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { notJsonError } from './response-errors.ts'

describe('an excerpt of a page', () => {
  it('has its text without markup and scripts, truncated', () => {
    const page = `<html><script>alert(1)</script><h1>Bad\n gateway</h1>${'<p>x</p>'.repeat(500)}`
    const excerpt = String(notJsonError(page, 502).details['excerpt'])
    assert.match(excerpt, /^Bad gateway x x /)
    assert.ok(excerpt.length <= 200)
  })

  it('does not repeat a credential of the page', () => {
    const page = '<pre>Authorization: Bearer s3cret.a-b\nX-API-Key: k3y\nBasic dTpw token="t0ken"</pre> not allowed'
    const excerpt = String(notJsonError(page, 403).details['excerpt'])
    assert.doesNotMatch(excerpt, /s3cret|k3y|dTpw|t0ken/)
    assert.match(excerpt, /not allowed/)
  })
})
