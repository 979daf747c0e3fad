import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { currency } from '../api/currency.ts'
import {
  formatAgo,
  formatBytes,
  formatCost,
  formatDuration,
  pluralize,
  formatCompact,
  truncateMiddle,
} from './format.ts'

describe('formatted values', () => {
  it('have durations with a suitable unit', () => {
    assert.deepEqual([0, 12, 999, 4_200, 41_000, 61_000, 3_700_000, 90_000_000].map(formatDuration), [
      '0 ms',
      '12 ms',
      '999 ms',
      '4.2 s',
      '41 s',
      '1 min 1 s',
      '1 h 1 min',
      '1 d 1 h',
    ])
  })

  it('have relative times, past and future', () => {
    assert.deepEqual(
      [1_000, 30_000, 300_000, 7_200_000, 600_000_000, -5_000].map((ms) => formatAgo(0, ms)),
      ['now', '30 s ago', '5 min ago', '2 h ago', '7 d ago', 'in 5 s'],
    )
  })

  it('have sizes and counts', () => {
    assert.deepEqual(
      [formatBytes(12), formatBytes(1_500), formatBytes(64_000), formatBytes(2_500_000)],
      ['12 B', '1.5 kB', '64 kB', '2.5 MB'],
    )
    assert.deepEqual(
      [pluralize(1, 'task'), pluralize(12_000, 'task'), pluralize(2, 'try', 'tries')],
      ['1 task', '12,000 tasks', '2 tries'],
    )
  })

  it('have compact numbers, and costs with enough digits', () => {
    assert.deepEqual([0, 9_999, 12_345, 2_500_000].map(formatCompact), ['0', '9,999', '12.3k', '2.5M'])
    assert.deepEqual([0, 0.000_012_34, 0.25, 1, 1_234.5].map(formatCost), [
      '0',
      '0.0000123',
      '0.25',
      '1.00',
      '1,234.50',
    ])
    currency.value = 'EUR'
    assert.deepEqual([0, 0.000_012_34, 1, 1_234.5].map(formatCost), ['€0', '€0.0000123', '€1.00', '€1,234.50'])
    currency.value = undefined
  })

  it('have ids truncated in the middle', () => {
    assert.equal(truncateMiddle('0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'), '0190a1b2…4a5b')
    assert.equal(truncateMiddle('short'), 'short')
  })
})
