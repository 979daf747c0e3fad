import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Measure } from '../report.ts'
import { mergeResults, renderResults, replaceBetweenMarks, type RunFacts } from './performance-page.ts'
import { createPlots } from './plots.ts'

const run: RunFacts = { date: '2026-01-01', mode: 'full', machine: 'a machine' }
const measure = (name: string, values: Measure['values']): Measure & { run: RunFacts } => ({
  name,
  what: name,
  unit: 'ms',
  better: 'less',
  values,
  run,
})
const measures = [
  measure('task', { parley: 10, hub: 12, 'a2a-js': 30, bare: 5 }),
  measure('chunks1000', { parley: 10, 'a2a-js': 1_000 }),
  measure('chunks4000', { parley: 40, 'a2a-js': 16_000 }),
]

describe('the performance page', () => {
  it('replaces the measurements of the same name and keeps the others', () => {
    const merged = mergeResults(measures, [measure('task', { parley: 9 }), measure('new', { parley: 1 })])
    assert.deepEqual(
      merged.map(({ name, values }) => [name, values.parley]),
      [
        ['task', 9],
        ['chunks1000', 10],
        ['chunks4000', 40],
        ['new', 1],
      ],
    )
  })

  it('has a table for each set of contestants, every target, and says if the figures are from several runs', () => {
    const text = renderResults(measures, createPlots(measures))
    assert.equal(text.match(/\| measure /g)?.length, 2)
    assert.match(text, /4,000 chunks: at least 300× @a2a-js\/sdk \| 400 \| met/)
    assert.match(text, /hop: at least 0.5× the direct throughput \| – \| not measured/)
    assert.doesNotMatch(text, /Not all figures/)
    const mixed = [...measures, { ...measure('lost', { parley: 0 }), run: { ...run, mode: 'quick' as const } }]
    assert.match(
      renderResults(mixed, []),
      /Not all figures are from one full run[^]*from the run of 2026-01-01, quick mode; the others are not:\n\n- lost\n\n###/,
    )
  })

  it('writes between its markers only', () => {
    const [start, end] = ['<!-- results: written by npm run bench -- --write -->', '<!-- end of results -->']
    assert.equal(replaceBetweenMarks(`a\n${start}\nold\n${end}\nb`, 'new'), `a\n${start}\n\nnew\n\n${end}\nb`)
    assert.throws(() => replaceBetweenMarks('a', 'new'), /has no/)
  })
})

describe('the plots', () => {
  it('draw every contestant of a measure, and none without measurements', () => {
    const plots = createPlots(measures)
    assert.deepEqual(
      plots.map(({ file }) => file),
      ['task.svg', 'chunks.svg'],
    )
    for (const { svg } of plots) {
      assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/)
      assert.match(svg, /prefers-color-scheme:dark/)
      assert.doesNotMatch(svg, /NaN|Infinity|undefined/)
    }
    assert.equal(plots[0]?.svg.match(/<rect/g)?.length, 4)
    assert.equal(plots[1]?.svg.match(/<polyline/g)?.length, 2)
  })
})
