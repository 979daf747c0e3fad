import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetricRegistry, otherLabel, type MetricInfo } from './metric-registry.ts'
import { prometheusText } from './metrics-route.ts'

const about = (name: string, labels: readonly string[] = []): MetricInfo => ({
  name,
  otel: name,
  unit: '1',
  help: 'What it is.',
  labels,
})

describe('metrics', () => {
  it('are counted by their labels, and written in the Prometheus format [T-12]', async () => {
    const registry = createMetricRegistry()
    const counter = registry.counter(about('a_total', ['agent', 'error.type']))
    counter.add(['x', 'NOT_FOUND'])
    counter.add(['x', 'NOT_FOUND'], 2)
    counter.add(['y', ''])
    registry.observed(about('b'), 'gauge', () => [[0.5], [undefined]])
    assert.equal(
      prometheusText(await registry.collect()),
      [
        '# HELP a_total What it is.',
        '# TYPE a_total counter',
        'a_total{agent="x",error_type="NOT_FOUND"} 3',
        'a_total{agent="y",error_type=""} 1',
        '# HELP b What it is.',
        '# TYPE b gauge',
        'b 0.5',
        '',
      ].join('\n'),
    )
  })

  it('may be histograms: each value is in the first bucket that holds it and in all above', async () => {
    const registry = createMetricRegistry()
    const histogram = registry.histogram(about('h', ['of']), [1, 10])
    for (const value of [0.5, 1, 2, 100]) histogram.observe(['x'], value)
    assert.deepEqual(
      prometheusText(await registry.collect())
        .split('\n')
        .slice(2, -1),
      [
        'h_bucket{of="x",le="1"} 2',
        'h_bucket{of="x",le="10"} 3',
        'h_bucket{of="x",le="+Inf"} 4',
        'h_sum{of="x"} 103.5',
        'h_count{of="x"} 4',
      ],
    )
  })

  it('escape what a label or a help text may hold', async () => {
    const registry = createMetricRegistry()
    registry.counter({ ...about('c_total', ['name']), help: 'One \\ two\nthree' }).add(['say "hi"\\\n'])
    assert.deepEqual(
      prometheusText(await registry.collect())
        .split('\n')
        .slice(0, -1),
      ['# HELP c_total One \\\\ two\\nthree', '# TYPE c_total counter', 'c_total{name="say \\"hi\\"\\\\\\n"} 1'],
    )
  })

  it('count together what has too many names, and lose nothing', async () => {
    const registry = createMetricRegistry()
    const counter = registry.counter(about('c_total', ['name', 'more']))
    for (let n = 0; n < 1_500; n += 1) counter.add([`n${n}`, 'x'])
    const [family] = await registry.collect()
    assert.ok(family?.type === 'counter')
    assert.equal(family.samples.length, 1_001)
    assert.equal(
      family.samples.reduce((sum, { value }) => sum + value, 0),
      1_500,
    )
    assert.deepEqual(family.samples.at(-1)?.labels, [otherLabel, otherLabel])
  })

  it('that fail are omitted, and the others are reported', async () => {
    const registry = createMetricRegistry()
    registry.observed(about('bad'), 'gauge', () => Promise.reject(new Error('down')))
    registry.observed(about('good'), 'gauge', async () => [[Infinity]])
    assert.match(prometheusText(await registry.collect()), /^# HELP good .*\n# TYPE good gauge\ngood \+Inf\n$/)
  })

  it('have one name each', () => {
    const registry = createMetricRegistry()
    registry.counter(about('a'))
    assert.throws(() => registry.observed(about('a'), 'gauge', () => []), /duplicate metric a/)
  })
})
