import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { yamlLines } from './yaml-lines.ts'

describe('the coloured lines of a YAML text', () => {
  it('split values of several lines, and mark variables', () => {
    const lines = yamlLines('key: "a ${env:KEY}"\nsystem: |\n  one: 1\n  two\n\nnext: 5')
    assert.deepEqual(
      lines.map((line) => line.map(({ kind }) => kind).join(' ')),
      ['key plain string keyword string', 'key plain string', 'string', 'string', '', 'key plain number'],
    )
  })

  it('lose no character, whatever is typed', () => {
    const text = 'a: "unclosed\nit\'s: {\n- - x\n:\n#\n\t- [a, "b"]: c\ndon\'t stop: ${env:\na:b: c\r\n'
    assert.equal(
      yamlLines(text)
        .map((line) => line.map((token) => token.text).join(''))
        .join('\n'),
      text,
    )
  })
})
