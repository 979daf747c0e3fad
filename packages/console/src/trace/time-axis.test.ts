import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { zoomRange, barOf, axisTicks } from './time-axis.ts'

const labels = (from: number, to: number, most = 6): string =>
  axisTicks(1_000, { from: 1_000 + from, to: 1_000 + to }, most)
    .map(({ label }) => label)
    .join(' | ')

describe('the axis of a waterfall', () => {
  it('labels round times with suitable units', () => {
    assert.equal(labels(0, 9), '0 | 2 ms | 4 ms | 6 ms | 8 ms')
    assert.equal(labels(0, 1_200), '0 | 500 ms | 1.0 s')
    assert.equal(labels(0, 4_000), '0 | 1 s | 2 s | 3 s | 4 s')
    assert.equal(labels(0, 150_000), '0 | 30 s | 1 min | 1 min 30 s | 2 min | 2 min 30 s')
    assert.equal(labels(0, 7_200_000), '0 | 30 min | 1 h | 1 h 30 min | 2 h')
    assert.equal(labels(0, 5 * 86_400_000), '0 | 1 d | 2 d | 3 d | 4 d | 5 d')
  })

  it('counts from the start of the trace when zoomed', () => {
    assert.equal(labels(1_210, 1_290), '1.22 s | 1.24 s | 1.26 s | 1.28 s')
    const [first] = axisTicks(0, { from: 1_210, to: 1_290 }, 6)
    assert.equal(first?.share, 0.125)
  })

  it('has a label for an empty range', () => {
    assert.equal(labels(0, 0), '0')
    assert.equal(labels(5, 5), '5 ms')
  })
})

describe('the bar of a span', () => {
  it('is clipped to the visible range', () => {
    const seen = { from: 100, to: 200 }
    assert.deepEqual(barOf({ from: 125, to: 150 }, seen), { left: 0.25, width: 0.25 })
    assert.deepEqual(barOf({ from: 0, to: 150 }, seen), { left: 0, width: 0.5 })
    assert.deepEqual(barOf({ from: 0, to: 999 }, seen), { left: 0, width: 1 })
    assert.deepEqual(barOf({ from: 150, to: 150 }, seen), { left: 0.5, width: 0 })
    assert.equal(barOf({ from: 0, to: 99 }, seen), undefined)
    assert.deepEqual(barOf({ from: 5, to: 5 }, { from: 5, to: 5 }), { left: 0, width: 1 })
  })

  it('is zoomed to with a margin', () => {
    const whole = { from: 0, to: 1_000 }
    assert.deepEqual(zoomRange({ from: 100, to: 200 }, whole), { from: 96, to: 204 })
    assert.deepEqual(zoomRange({ from: 0, to: 1_000 }, whole), whole)
    assert.deepEqual(zoomRange({ from: 500, to: 500 }, whole), { from: 499.5, to: 500.5 })
  })
})
