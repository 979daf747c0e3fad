import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord } from '../../../api/admin.ts'
import { foldChunks } from './event-groups.ts'

const record = (seq: number, body: any): LogRecord => ({
  seq,
  at: new Date(seq * 100).toISOString(),
  type: body.type,
  isVisible: true,
  bytes: 10,
  body,
})
const chunk = (seq: number, artifactId = 'a'): LogRecord =>
  record(seq, { type: 'artifact', artifact: { artifactId, parts: [{ text: 'x' }] } })
const status = (seq: number): LogRecord => record(seq, { type: 'status', status: { state: 'TASK_STATE_WORKING' } })
const rowsOf = (events: readonly LogRecord[], expanded: readonly string[] = [], selected?: number): string =>
  foldChunks(events, { expanded: new Set(expanded), selected })
    .map((item) => (item.kind === 'event' ? item.key : `[${item.first.seq}-${item.last.seq}:${item.bytes}]`))
    .join(' ')

describe('the rows of a log', () => {
  const events = [status(1), ...[2, 3, 4, 5].map((seq) => chunk(seq)), chunk(6, 'b'), chunk(7, 'b'), status(8)]

  it('fold the chunks of one artifact, if there are more than a few', () => {
    assert.equal(rowsOf(events), '1 [2-5:40] 6 7 8')
    assert.equal(rowsOf([]), '')
  })

  it('are all shown in an expanded group, and in the group of the selected event', () => {
    assert.equal(rowsOf(events, ['chunks 2']), '1 [2-5:40] 2 3 4 5 6 7 8')
    assert.equal(rowsOf(events, [], 4), '1 [2-5:40] 2 3 4 5 6 7 8')
  })

  it('are folded in time proportional to their number', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => chunk(index + 1))
    assert.equal(rowsOf(many), '[1-100000:1000000]')
  })
})
