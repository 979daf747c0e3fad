import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createOutputSplitter, unescapeDelimiter } from './split-output.ts'

describe('the pieces of an output', () => {
  it('end with the delimiter, wherever the chunks are cut', () => {
    const text = 'one--two---three----'
    for (let size = 1; size <= text.length; size++) {
      const splitter = createOutputSplitter('--')
      const pieces: string[] = []
      for (let at = 0; at < text.length; at += size) pieces.push(...splitter.push(text.slice(at, at + size)))
      assert.deepEqual([...pieces, splitter.rest()], ['one--', 'two--', '-three--', '--', ''], `chunks of ${size}`)
    }
  })

  it('are the text again when they are joined', () => {
    const splitter = createOutputSplitter('\n')
    assert.equal([...splitter.push('a\n\nb'), ...splitter.push('c'), splitter.rest()].join(''), 'a\n\nbc')
  })

  it('may be delimited by characters that a shell does not pass on', () => {
    assert.equal(unescapeDelimiter('\\n\\t\\0\\\\n-\\x'), '\n\t\0\\n-\\x')
  })
})
