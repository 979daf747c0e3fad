/** A parser that accepts anything would prove nothing. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePrometheus, sampleOfFamily } from './prometheus-parser.ts'

const head = '# HELP a_total A.\n# TYPE a_total counter\n'
const histogram = '# HELP h H.\n# TYPE h histogram\n'

describe('the parser of these tests', () => {
  it('reads valid input', () => {
    const families = parsePrometheus(
      `${head}a_total{x="1",y="a\\"b\\\\c\\nd"} 2\na_total{x="2",y=""} +Inf\n\n# a comment\n${histogram}h_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3.5e1\nh_count 2\n`,
    )
    assert.deepEqual(families[0]?.samples[0]?.labels, { x: '1', y: 'a"b\\c\nd' })
    assert.equal(sampleOfFamily(families, 'h_sum'), 35)
  })

  const wrong: readonly [what: string, text: string][] = [
    ['no line feed at the end', `${head}a_total 1`],
    ['a sample without a TYPE', 'a 1\n'],
    ['a name that is none', `${head}1a_total 1\n`],
    ['a number that is none', `${head}a_total one\n`],
    ['a label without quotes', `${head}a_total{x=1} 1\n`],
    ['a label that is not ended', `${head}a_total{x="1} 1\n`],
    ['an escape that is none', `${head}a_total{x="\\t"} 1\n`],
    ['a name of a label that is none', `${head}a_total{x.y="1"} 1\n`],
    ['the same sample twice', `${head}a_total{x="1",y="2"} 1\na_total{y="2",x="1"} 1\n`],
    ['a second TYPE', `${head}# TYPE a_total counter\na_total 1\n`],
    ['samples of one metric apart', `${head}a_total 1\n# HELP b B.\n# TYPE b gauge\nb 1\na_total{x="1"} 1\n`],
    ['a counter below zero', `${head}a_total -1\n`],
    ['a counter without _total', '# HELP a A.\n# TYPE a counter\na 1\n'],
    ['no HELP', '# TYPE a gauge\na 1\n'],
    ['buckets that shrink', `${histogram}h_bucket{le="1"} 3\nh_bucket{le="+Inf"} 2\nh_sum 1\nh_count 2\n`],
    ['a histogram without +Inf', `${histogram}h_bucket{le="1"} 3\nh_sum 1\nh_count 3\n`],
    ['a count that the buckets do not have', `${histogram}h_bucket{le="+Inf"} 3\nh_sum 1\nh_count 2\n`],
    ['a histogram without a sum', `${histogram}h_bucket{le="+Inf"} 3\nh_count 3\n`],
  ]
  for (const [what, text] of wrong) it(`refuses ${what}`, () => assert.throws(() => parsePrometheus(text)))
})
