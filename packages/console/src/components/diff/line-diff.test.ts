import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { changedPart, countChanges, invertDiff, diffSections, sideBySide } from './line-diff.ts'
import type { DiffLine } from './line-diff.ts'

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

describe('a comparison that is shown', () => {
  it('folds away what is far from any change', () => {
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

  it('folds nothing for a few lines, and all where nothing changed', () => {
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

  it('puts what came beside what went', () => {
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

  it('says in which part two lines differ', () => {
    const part = (text: string, other: string): string => {
      const { from, to } = changedPart(text, other)
      return text.slice(from, to)
    }
    assert.deepEqual([part('port: 80', 'port: 443'), part('port: 443', 'port: 80')], ['80', '443'])
    assert.deepEqual([part('aa', 'aaa'), part('aaa', 'aa')], ['', 'a'])
    assert.deepEqual([part('same', 'same'), part('', 'a')], ['', ''])
  })

  it('is counted, and read the other way round', () => {
    const diff = diffOf(' a', '-b', '+c', '+d')
    assert.deepEqual(countChanges(diff), { added: 2, removed: 1 })
    assert.deepEqual(countChanges(invertDiff(diff)), { added: 1, removed: 2 })
    assert.deepEqual(invertDiff(invertDiff(diff)), diff)
  })
})
