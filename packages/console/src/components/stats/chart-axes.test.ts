import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { highest, timeTicks, valueTicks } from './chart-axes.ts'
import type { StatChart } from './stat-charts.ts'

const chart = (values: readonly (readonly (number | null)[])[], more: Partial<StatChart> = {}): StatChart => ({
  id: 'errors',
  title: '',
  value: '',
  summary: '',
  look: 'bars',
  lines: values.map((one) => ({ name: '', tone: 'failed', values: one })),
  isWhole: false,
  show: String,
  ...more,
})
const labels = (ticks: readonly { readonly label: string }[]): readonly string[] => ticks.map(({ label }) => label)

describe('the axes of a chart', () => {
  it('are as high as the highest stack, or as the highest line', () => {
    const values = [
      [1, 5, null],
      [4, 3, null],
    ] as const
    assert.equal(highest(chart(values)), 8)
    assert.equal(highest(chart(values, { look: 'lines' })), 5)
    assert.equal(highest(chart([])), 0)
  })

  it('have few round values, whole ones where halves mean nothing', () => {
    const ticksTo = (most: number, more?: Partial<StatChart>) => labels(valueTicks(chart([[most]], more), most * 1.1))
    assert.deepEqual(ticksTo(870), ['0', '500'])
    assert.deepEqual(ticksTo(700), ['0', '200', '400', '600'])
    assert.deepEqual(ticksTo(0.037), ['0', '0.02', '0.04'])
    assert.deepEqual(ticksTo(1), ['0', '0.5', '1'])
    assert.deepEqual(ticksTo(1, { isWhole: true }), ['0', '1'])
    assert.deepEqual(ticksTo(0), ['0'])
  })

  it('have round local times, as many as there is room for', () => {
    const steps = (from: Date, count: number, stepMs: number) => ({
      stepMs,
      steps: Array.from({ length: count }, (_, at) => ({
        at: new Date(from.getTime() + at * stepMs).toISOString(),
      })) as never,
    })
    const hour = steps(new Date(2030, 0, 31, 11, 58), 60, 60_000)
    assert.deepEqual(labels(timeTicks(hour, 6)), ['12:00', '12:10', '12:20', '12:30', '12:40', '12:50'])
    assert.deepEqual(labels(timeTicks(hour, 4)), ['12:00', '12:15', '12:30', '12:45'])
    assert.equal(timeTicks(hour, 4)[0]?.share, 2 / 60)
    const week = steps(new Date(2030, 0, 31, 5), 168, 3_600_000)
    for (const label of labels(timeTicks(week, 4))) assert.match(label, /^\d Feb$/)
  })
})
