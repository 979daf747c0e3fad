import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countChanges, diffTexts, invertDiff, markWords } from './diff.ts'
import { changedPart, diffSections, sideBySide } from './diff-sections.ts'
import type { DiffLine } from './diff.ts'

/** ` a` is unchanged, `+a` added, `-a` removed. */
function diffOf(...lines: readonly string[]): readonly DiffLine[] {
  let [before, after] = [0, 0]
  return lines.map((line) => {
    const change = line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : 'same'
    if (change !== 'added') before += 1
    if (change !== 'removed') after += 1
    return {
      change,
      text: line.slice(1),
      ...(change === 'added' ? {} : { before }),
      ...(change === 'removed' ? {} : { after }),
    }
  })
}

const same = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => ` ${index}`)
const brief = (lines: readonly DiffLine[]): string => lines.map(({ change }) => change[0]).join('')

describe('a diff', () => {
  it('collapses lines that are far from any change', () => {
    const pieces = diffSections(diffOf(...same(20), '-a', '+b', ...same(20)))
    assert.deepEqual(
      pieces.map(({ kind, lines }) => [kind, brief(lines)]),
      [
        ['same', 's'.repeat(17)],
        ['lines', 'sssrasss'],
        ['same', 's'.repeat(17)],
      ],
    )
  })

  it('collapses no short run, and everything if nothing changed', () => {
    assert.deepEqual(
      diffSections(diffOf('-a', ...same(8), '+b')).map(({ kind }) => kind),
      ['lines'],
    )
    assert.deepEqual(
      diffSections(diffOf(...same(9))).map(({ kind }) => kind),
      ['same'],
    )
    assert.deepEqual(diffSections([]), [])
  })

  it('pairs removed with added lines', () => {
    const rows = sideBySide(diffOf(' a', '-b', '-c', '+d', ' e', '+f'))
    assert.deepEqual(
      rows.map(({ left, right }) => [left?.text, right?.text]),
      [
        ['a', 'a'],
        ['b', 'd'],
        ['c', undefined],
        ['e', 'e'],
        [undefined, 'f'],
      ],
    )
    assert.deepEqual(
      rows.map(({ left, right }) => [left?.before, right?.after]),
      [
        [1, 1],
        [2, 2],
        [3, undefined],
        [4, 3],
        [undefined, 4],
      ],
    )
  })

  it('finds the part in which two lines differ', () => {
    const part = (text: string, other: string): string => {
      const { from, to } = changedPart(text, other)
      return text.slice(from, to)
    }
    assert.deepEqual([part('port: 80', 'port: 443'), part('port: 443', 'port: 80')], ['80', '443'])
    assert.deepEqual([part('aa', 'aaa'), part('aaa', 'aa')], ['', 'a'])
    assert.deepEqual([part('same', 'same'), part('', 'a')], ['', ''])
  })

  it('is counted and inverted', () => {
    const diff = diffOf(' a', '-b', '+c', '+d')
    assert.deepEqual(countChanges(diff), { added: 2, removed: 1 })
    assert.deepEqual(countChanges(invertDiff(diff)), { added: 1, removed: 2 })
    assert.deepEqual(invertDiff(invertDiff(diff)), diff)
  })
})

const marked = (line: DiffLine | undefined, other: DiffLine | undefined): string | undefined =>
  line &&
  markWords(line, other)
    .map(({ text, isMarked }) => (isMarked ? `[${text}]` : text))
    .join('')
const rows = (one: string, another: string) =>
  sideBySide(diffTexts(one, another)).map(({ left, right }) => [
    marked(left, right),
    marked(right, left),
    left?.change === 'same',
  ])

describe('two texts side by side', () => {
  it('have equal lines side by side', () => {
    assert.deepEqual(rows('a\nb', 'a\nb'), [
      ['a', 'a', true],
      ['b', 'b', true],
    ])
    assert.deepEqual(rows('', ''), [])
  })

  it('have changed words marked', () => {
    assert.deepEqual(rows('The quick fox', 'The slow fox'), [['The [quick] fox', 'The [slow] fox', false]])
    assert.deepEqual(rows('Größe: 1 m', 'Größe: 2 m'), [['Größe: [1] m', 'Größe: [2] m', false]])
  })

  it('have an empty cell where only the other has a line', () => {
    assert.deepEqual(rows('a\nc', 'a\nb\nc'), [
      ['a', 'a', true],
      [undefined, '[b]', false],
      ['c', 'c', true],
    ])
    assert.deepEqual(rows('only', ''), [['[only]', undefined, false]])
  })

  it('are not compared line by line above four million comparisons', () => {
    const long = (word: string, count: number, sharedAt: number) =>
      Array.from({ length: count }, (_, line) => (line === sharedAt ? 'shared' : `${word} ${line}`)).join('\n')
    const sameIn = (count: number) =>
      diffTexts(long('a', count, 5), long('b', count, count - 5)).filter(({ change }) => change === 'same').length
    assert.equal(sameIn(1_000), 1)
    assert.equal(sameIn(20_000), 0)
  })
})
