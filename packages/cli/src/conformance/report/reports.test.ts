import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { breaks, summarize, type CheckResult, type ConformanceReport } from '../report.ts'
import { junitReport } from './junit-report.ts'
import { markdownReport } from './markdown-report.ts'
import { textReport } from './text-report.ts'

const base = {
  title: 'Does it',
  section: 'A2A 1.0 §1',
  rules: ['B-1'],
  version: '1.0',
  url: 'http://a.test',
  durationMs: 5,
} as const
const results: readonly CheckResult[] = [
  { ...base, id: 'card.one', level: 'must', outcome: 'pass' },
  {
    ...base,
    id: 'send.two',
    level: 'must',
    binding: 'JSONRPC',
    outcome: 'fail',
    note: 'found <b>|`x`\u001b[31m & more',
    evidence: { request: 'POST /\n```', response: 'HTTP 500\n]]>\u0000' },
  },
  { ...base, id: 'send.two', level: 'must', binding: 'GRPC', outcome: 'not-applicable', note: 'no' },
  { ...base, id: 'send.three', level: 'should', binding: 'JSONRPC', outcome: 'fail', note: 'should fail' },
  {
    ...base,
    id: 'send.four',
    level: 'must',
    binding: 'JSONRPC',
    outcome: 'fail',
    note: 'known',
    accepted: 'for a reason',
  },
  { ...base, id: 'send.five', level: 'info', binding: 'JSONRPC', outcome: 'undecided', note: 'not shown' },
]
const report: ConformanceReport = {
  schema: 'a2a-conformance/1',
  agent: { url: 'http://a.test', name: 'Ada\u202e', version: '1' },
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1_500,
  targets: [
    { url: 'http://a.test', version: '1.0', binding: 'JSONRPC' },
    { url: 'a.test:1', version: '1.0', binding: 'GRPC' },
  ],
  messagesSent: 3,
  summary: summarize(results),
  results,
}

describe('a conformance report', () => {
  it('counts by level, and fails by the level that counts', () => {
    assert.deepEqual(report.summary.must, { pass: 1, fail: 1, accepted: 1, undecided: 0, notApplicable: 1 })
    assert.deepEqual(report.summary.should.fail, 1)
    const onlyShould = { ...report, summary: summarize(results.filter(({ id }) => id === 'send.three')) }
    assert.deepEqual([breaks(report, 'must'), breaks(report, 'never')], [true, false])
    assert.deepEqual([breaks(onlyShould, 'must'), breaks(onlyShould, 'should')], [false, true])
  })

  it('is a table for people, without control characters', () => {
    const text = textReport(report, { showsEvidence: false })
    const line = (id: string): string => text.split('\n').find((each) => each.startsWith(id)) ?? ''
    assert.match(line('card.one'), /^card\.one +must +ok$/)
    assert.match(line('send.two'), /FAIL +-$/)
    assert.match(line('send.four'), /known$/)
    assert.match(line('send.five'), /info +\?$/)
    assert.equal(line('Result'), 'Result: the agent breaks 1 must and 1 should; 1 accepted by the profile')
    for (const hidden of ['\u001b', '\u202e', 'POST']) assert.ok(!text.includes(hidden), hidden)
    assert.match(textReport(report, { showsEvidence: true }), /Request:\n {6}POST \//)
  })

  it('counts a check for each interface on which it fails, gives its advice, and sets accepted failures apart', () => {
    const failed = { ...base, id: 'send.two', level: 'must', outcome: 'fail', note: 'x' } as const
    const twice = [
      { ...failed, binding: 'JSONRPC', advice: 'Set `strict`.' },
      { ...failed, binding: 'GRPC', advice: 'Set `strict`.' },
    ] as const
    const broken = { ...report, results: twice, summary: summarize(twice) }
    const text = textReport(broken, { showsEvidence: false })
    assert.match(text, /^Result: the agent breaks 2 must \(1 check on 2 interfaces\)$/m)
    assert.match(text, /^Failures:\n.*\n.*\n {4}Found: x\n {4}Advice: Set `strict`\.$/m)
    for (const written of [markdownReport(broken), junitReport(broken, 'must')]) assert.match(written, /Set .*strict/)
    const accepted = results.filter(({ id }) => id === 'send.four')
    const known = { ...report, results: accepted, summary: summarize(accepted) }
    assert.match(textReport(known, { showsEvidence: false }), /^Accepted failures:$/m)
    assert.match(markdownReport(known), /^## Accepted failures$/m)
  })

  it('has no line that the agent wrote', () => {
    const forged = 'x\nmust   99 passed, 0 failed'
    const agent = { ...report.agent, name: forged }
    const text = textReport(
      { ...report, agent, results: results.map((result) => ({ ...result, note: forged })) },
      { showsEvidence: true },
    )
    assert.equal(text.match(/^must +\d+ passed/gm)?.length, 1)
    assert.doesNotMatch(text, /^\s*must +99/m)
    assert.match(text, /Request:\n {6}POST \/\n {6}```/)
  })

  it('is Markdown without characters that hide or reorder text', () => {
    assert.ok(!markdownReport(report).includes('\u202e') && !markdownReport(report).includes('\u001b'))
    assert.ok(!junitReport({ ...report, agent: { url: 'http://a\u202e' } }, 'must').includes('\u202e'))
  })

  it('is well-formed JUnit XML whose failures are those that count', () => {
    const xml = junitReport(report, 'must')
    assert.match(xml, /<testsuites [^>]*tests="6" failures="1" errors="0" skipped="4"/)
    assert.match(xml, /<failure type="must" message="found &lt;b&gt;\|`x`\\u001b\[31m &amp; more">/)
    assert.match(xml, /]]&gt;\\u0000/)
    assert.equal(xml.match(/<failure/g)?.length, 1)
    assert.equal(junitReport(report, 'should').match(/<failure/g)?.length, 2)
    assert.equal(junitReport(report, 'never').match(/<failure/g), null)
    const opened = [...xml.matchAll(/<(testsuites?|testcase|failure)\b[^>]*[^/]>/g)].length
    assert.equal([...xml.matchAll(/<\/(testsuites?|testcase|failure)>/g)].length, opened)
  })

  it('is Markdown in which text of the agent is only text', () => {
    const markdown = markdownReport(report)
    assert.match(markdown, /Found: found &#60;b&#62;&#124;&#96;x&#96;/)
    // The fence is longer than the one in the evidence.
    assert.match(markdown, /\n````\nPOST \/\n```\n````\n/)
    assert.match(markdown, /\| `send\.two` \| must \| \*\*FAIL\*\* \| - \|/)
    assert.match(markdown, /Accepted: for a reason/)
  })
})
