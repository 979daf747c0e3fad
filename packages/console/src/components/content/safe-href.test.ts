import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { safeHref } from './safe-href.ts'

describe('an address from an agent', () => {
  it('is a link if it opens a page or an email', () => {
    assert.equal(safeHref('https://example.com/a?b#c'), 'https://example.com/a?b#c')
    assert.equal(safeHref('http://127.0.0.1:3000'), 'http://127.0.0.1:3000/')
    assert.equal(safeHref('mailto:someone@example.com'), 'mailto:someone@example.com')
  })

  it('is text otherwise, however it is disguised', () => {
    const tricks = [
      'javascript:alert(1)',
      ' \tJaVaScRiPt:alert(1)',
      'data:text/html,x',
      'blob:https://x/1',
      'vbscript:x',
    ]
    for (const trick of [...tricks, 'file:///etc/passwd', '/relative', '//host', '', 7, undefined, null, {}]) {
      assert.equal(safeHref(trick), undefined, String(trick))
    }
  })
})
