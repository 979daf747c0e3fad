import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { lineDiff } from './line-diff.ts'

const marks = { same: ' ', added: '+', removed: '-' } as const
const shown = (before: string, after: string): string =>
  lineDiff(before, after)
    .map(({ change, text }) => marks[change] + text)
    .join('|')

describe('the difference between two texts', () => {
  it('lists changed lines', () => {
    assert.equal(shown('a\nb\nc\n', 'a\nB\nc\nd\n'), ' a|-b|+B| c|+d')
    assert.equal(shown('', 'a\n'), '+a')
    assert.equal(shown('a\n', ''), '-a')
    assert.equal(shown('a\nb\n', 'a\nb\n'), ' a| b')
    assert.equal(shown('x\na\ny\na\nz', 'a\na\nz'), '-x| a|-y| a| z')
  })

  it('numbers the lines of both', () => {
    assert.deepEqual(lineDiff('a\nb', 'b\nc'), [
      { change: 'removed', text: 'a', before: 1 },
      { change: 'same', text: 'b', before: 2, after: 1 },
      { change: 'added', text: 'c', after: 2 },
    ])
  })

  it('leads from one to the other, whatever they are', () => {
    const lines = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
      .map((all) => all.map((one) => `${one}\n`).join(''))
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = lineDiff(before, after)
        const text = (without: string): string =>
          diff
            .filter(({ change }) => change !== without)
            .map((one) => `${one.text}\n`)
            .join('')
        assert.equal(text('added'), before)
        assert.equal(text('removed'), after)
      }),
    )
  })

  it('does not take for ever over texts that have nothing in common', () => {
    const many = (word: string): string => Array.from({ length: 3_000 }, (_, n) => `${word} ${n}`).join('\n')
    assert.equal(lineDiff(many('old'), many('new')).length, 6_000)
  })
})
