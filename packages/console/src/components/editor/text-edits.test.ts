import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countLines, findAll, indent, lineRange, newLine, outdent, positionAt, type TextEdit } from './text-edits.ts'

/** `|` marks the selection, once or twice. */
function edited(marked: string, change: (text: string, from: number, to: number) => TextEdit): string {
  const from = marked.indexOf('|')
  const text = marked.replaceAll('|', '')
  const to = marked.lastIndexOf('|') === from ? from : marked.lastIndexOf('|') - 1
  const { insert, selectFrom, selectTo, ...edit } = change(text, from, to)
  const after = text.slice(0, edit.from) + insert + text.slice(edit.to)
  const end = selectFrom === selectTo ? '' : '|'
  return `${after.slice(0, selectFrom)}|${after.slice(selectFrom, selectTo)}${end}${after.slice(selectTo)}`
}

describe('positions in a text', () => {
  it('are counted from one, by line and column', () => {
    const text = 'ab\ncd\n'
    assert.deepEqual(
      [0, 2, 3, 5, 6].map((offset) => positionAt(text, offset)),
      [
        { line: 1, column: 1 },
        { line: 1, column: 3 },
        { line: 2, column: 1 },
        { line: 2, column: 3 },
        { line: 3, column: 1 },
      ],
    )
    assert.deepEqual([countLines(''), countLines(text)], [1, 3])
  })

  it('are found by their line; a line past the end is the last', () => {
    const text = 'ab\ncd\nef'
    assert.deepEqual(
      [1, 2, 3, 99].map((line) => {
        const { from, to } = lineRange(text, line)
        return text.slice(from, to)
      }),
      ['ab', 'cd', 'ef', 'ef'],
    )
  })

  it('are found by their text, ignoring case', () => {
    assert.deepEqual(findAll('Key: key KEY', 'key'), [0, 5, 9])
    assert.deepEqual(findAll('aaaa', 'aa'), [0, 2])
    assert.deepEqual(findAll('abc', ''), [])
  })
})

describe('keys in the editor', () => {
  it('indent to the next step', () => {
    assert.equal(edited('a|b', indent), 'a |b')
    assert.equal(edited('|b', indent), '  |b')
    assert.equal(edited('ab|', indent), 'ab  |')
  })

  it('indent and outdent the selected lines, except empty ones', () => {
    assert.equal(edited('a:\n|  b\n\n  c|\n', indent), 'a:\n  |  b\n\n    c|\n')
    assert.equal(edited('a:\n  |  b\n    c|\n', outdent), 'a:\n|  b\n  c|\n')
    assert.equal(edited('|a\nb\n|c', indent), '  |a\n  b\n|c')
    assert.equal(edited(' |a', outdent), '|a')
  })

  it('keep the indentation in a new line, and indent below a key', () => {
    assert.equal(edited('  a: 1|', newLine), '  a: 1\n  |')
    assert.equal(edited('  a:|', newLine), '  a:\n    |')
    assert.equal(edited('  a: # why|', newLine), '  a: # why\n    |')
    assert.equal(edited('a|b', newLine), 'a\n|b')
  })
})
