import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { collapseStatusLines } from './collapse-status-lines.ts'
import type { TranscriptItem } from './transcript.ts'

const line = (key: string): TranscriptItem => ({
  kind: 'status',
  key,
  at: 1,
  seqs: [],
  message: { messageId: key, role: 'ROLE_AGENT', parts: [{ text: key }] },
})
const made = (key: string, text: string): TranscriptItem => ({
  kind: 'made',
  key,
  at: 1,
  seqs: [],
  isWhole: true,
  artifact: { artifactId: key, parts: [{ text }] },
})
const keys = (items: readonly TranscriptItem[], opened: readonly string[] = []): readonly string[] =>
  collapseStatusLines(items, new Set(opened)).map((row) => ('item' in row ? row.item.key : `${row.hidden} hidden`))

describe('the lines of a conversation', () => {
  it('are all shown while there are few', () => {
    assert.deepEqual(keys([line('a'), line('b'), made('m', 'x')]), ['a', 'b', 'm'])
  })

  it('are folded in long runs, except the last few', () => {
    const many = Array.from({ length: 20 }, (_, index) => line(`l${index}`))
    assert.deepEqual(keys([made('m', 'x'), ...many, made('n', 'y')]), [
      'm',
      '16 hidden',
      'l16',
      'l17',
      'l18',
      'l19',
      'n',
    ])
    assert.equal(keys(many, ['more l0']).length, 20)
  })

  it('omit empty artifacts', () => {
    assert.deepEqual(keys([made('m', ''), made('n', 'y')]), ['n'])
  })
})
