import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCharts, errorShare, formatShare, stepLabel, stepRange, type StatSeries } from './stat-charts.ts'

const none = { requests: 0, calls: 0, errors: 0, tasks: 0, failed: 0, streams: 0, inputTokens: 0, outputTokens: 0 }
const at = (minute: number): string => new Date(Date.UTC(2030, 0, 1, 12, minute)).toISOString()
const series = (more: Partial<StatSeries>): StatSeries => ({
  range: '1h',
  stepMs: 60_000,
  until: at(2),
  steps: [],
  totals: none,
  ...more,
})

describe('statistics as text', () => {
  it('have the totals and the peak', () => {
    const charts = createCharts(
      series({
        steps: [
          { ...none, at: at(0), requests: 1_200, errors: 3, failed: 1, p50Ms: 12, p95Ms: 4_000, streams: 2 },
          { ...none, at: at(1), requests: 0, streams: 5 },
          { ...none, at: at(2), requests: 40, p50Ms: 8, p95Ms: 90, streams: 1, inputTokens: 10, outputTokens: 2 },
        ],
        totals: {
          ...none,
          ...{ requests: 1_240, errors: 3, failed: 1, p50Ms: 11, p95Ms: 3_500, inputTokens: 12_345, outputTokens: 2 },
          cost: 0.5,
        },
      }),
    )
    const [first, second] = [stepLabel(at(0), 60_000), stepLabel(at(1), 60_000)]
    assert.deepEqual(
      charts.map(({ title, value, summary }) => [title, value, summary]),
      [
        ['Requests', '1,240', `1,240 requests in the last hour, at most 1,200 / min at ${first}.`],
        [
          'Response time',
          'p50 11 ms · p95 3.5 s',
          `Time to the response, or to the first event of a stream. p95 at most 4.0 s at ${first}.`,
        ],
        ['Errors', '4 · 0.3 %', '1 failed task and 3 failed requests in the last hour.'],
        ['Open streams', '1 now', `At most 5 at ${second}.`],
        ['Tokens', '12.3k in · 2 out', '12,345 input and 2 output tokens in the last hour.'],
        ['Cost', '0.5', '0.5 in the last hour, by the configured prices.'],
      ],
    )
  })

  it('say that there are none, with gaps where nothing was measured', () => {
    const charts = createCharts(series({ range: '7d', steps: [{ ...none, at: at(0) }] }))
    assert.deepEqual(
      charts.map(({ summary }) => summary),
      [
        'No requests in the last 7 days.',
        'No messages in the last 7 days.',
        'No errors in the last 7 days.',
        'No open streams in the last 7 days.',
        'No tokens reported in the last 7 days.',
        'No cost known in the last 7 days.',
      ],
    )
    assert.deepEqual(charts[1]?.lines, [
      { name: 'p50', tone: 'working', values: [null] },
      { name: 'p95', tone: 'waiting', values: [null] },
    ])
  })

  it('have rates per minute, also of the step that is not over', () => {
    const [requests] = createCharts(
      series({
        range: '24h',
        stepMs: 300_000,
        until: at(7),
        steps: [
          { ...none, at: at(0), requests: 50 },
          { ...none, at: at(5), requests: 20 },
        ],
      }),
    )
    assert.deepEqual(requests?.lines[0]?.values, [10, 10])
  })

  it('have shares with a unit', () => {
    assert.deepEqual([0, 0.0001, 0.012, 0.34, 1].map(formatShare), ['0 %', '< 0.1 %', '1.2 %', '34 %', '100 %'])
    assert.equal(errorShare({ requests: 0, errors: 0, failed: 3 }), 1)
  })

  it('have as much of the date as the steps need, and the range of their tasks', () => {
    const start = new Date(2030, 0, 31, 12).toISOString()
    assert.deepEqual(
      [60_000, 300_000, 14_400_000].map((stepMs) => stepLabel(start, stepMs)),
      ['12:00', '12:00–12:05', '31 Jan 12:00–16:00'],
    )
    assert.deepEqual(stepRange(series({}), { ...none, at: at(0) }), { since: at(0), until: at(1) })
  })
})
