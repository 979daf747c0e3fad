import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCharts, minuteLabel, type MinuteStats } from './recent-stats.ts'

const at = (minute: number): string => new Date(Date.UTC(2030, 0, 1, 12, minute)).toISOString()

describe('the last hour as text', () => {
  it('has the total, the peak and the current value', () => {
    const minutes: readonly MinuteStats[] = [
      { at: at(0), requests: 1_200, errors: 3, p50Ms: 12, p99Ms: 4_000, streams: 2 },
      { at: at(1), requests: 0, errors: 0, streams: 5 },
      { at: at(2), requests: 40, errors: 0, p50Ms: 8, p99Ms: 90, streams: 1 },
    ]
    const [first, third, second] = [minuteLabel(at(0)), minuteLabel(at(2)), minuteLabel(at(1))]
    assert.deepEqual(
      createCharts(minutes).map(({ now, summary }) => [now, summary]),
      [
        ['40 this minute', `1,240 requests in the last hour, at most 1,200 at ${first}.`],
        ['0 this minute', `3 errors in the last hour, 0.2 % of the requests, at most 3 at ${first}.`],
        [
          '8 ms half, 90 ms 99 %',
          `Half were answered within 8 ms and 99 % within 90 ms at ${third}; 99 % at most 4.0 s at ${first}.`,
        ],
        ['1 now', `1 open now, at most 5 at ${second}.`],
      ],
    )
  })

  it('reports an empty hour, and has gaps without responses', () => {
    const charts = createCharts([{ at: at(0), requests: 0, errors: 0, streams: 0 }])
    assert.deepEqual(
      charts.map(({ summary }) => summary),
      [
        'No agent was called in the last hour.',
        'No error in the last hour.',
        'Nothing was answered in the last hour.',
        'No stream was open in the last hour.',
      ],
    )
    assert.deepEqual(charts[2]?.lines[0]?.values, [null])
  })
})
