import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diffTexts, type DiffSegment } from './text-diff.ts'

const marked = (pieces: readonly DiffSegment[] | undefined): string | undefined =>
  pieces?.map(({ text, isMarked }) => (isMarked ? `[${text}]` : text)).join('')
const rows = (left: string, right: string) =>
  diffTexts(left, right).map((row) => [marked(row.left), marked(row.right), row.isSame])

describe('two texts side by side', () => {
  it('have the same lines beside each other', () => {
    assert.deepEqual(rows('a\nb', 'a\nb'), [
      ['a', 'a', true],
      ['b', 'b', true],
    ])
    assert.deepEqual(rows('', ''), [])
  })

  it('have the words marked in lines that changed', () => {
    assert.deepEqual(rows('The quick fox', 'The slow fox'), [['The [quick] fox', 'The [slow] fox', false]])
    assert.deepEqual(rows('Größe: 1 m', 'Größe: 2 m'), [['Größe: [1] m', 'Größe: [2] m', false]])
  })

  it('have an empty place where the other has one line more', () => {
    assert.deepEqual(rows('a\nc', 'a\nb\nc'), [
      ['a', 'a', true],
      [undefined, '[b]', false],
      ['c', 'c', true],
    ])
    assert.deepEqual(rows('only', ''), [['[only]', undefined, false]])
  })

  it('are not compared line by line where that would be millions of comparisons', () => {
    const long = (word: string, count: number, sharedAt: number) =>
      Array.from({ length: count }, (_, line) => (line === sharedAt ? 'shared' : `${word} ${line}`)).join('\n')
    const sameIn = (count: number) =>
      diffTexts(long('a', count, 5), long('b', count, count - 5)).filter(({ isSame }) => isSame).length
    assert.equal(sameIn(1_000), 1)
    assert.equal(sameIn(20_000), 0)
  })
})
