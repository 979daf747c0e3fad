/** The roll-up of the compliance report is fail-closed: a missing, empty or unknown result never satisfies a tier. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { defaultRows } from './compliance/default-rows.ts'
import { registry, type RequirementId } from './compliance/registry.ts'
import { claimedTier, summarize, yamlReport, type RequirementResult, type Status } from './compliance/report.ts'

const allPass = (): Map<RequirementId, RequirementResult> =>
  new Map([...registry.keys()].map((id) => [id, { status: 'pass', evidence: [{ shows: 'it' }] }]))
const defaults = defaultRows(true)

describe('the compliance report', () => {
  it('has 39, 15 and 12 requirements, and claims tier 3 if all pass', () => {
    const input = { results: allPass(), defaults }
    assert.deepEqual(
      [1, 2, 3].map((tier) => summarize(tier as 1 | 2 | 3, input).total),
      [39, 15, 12],
    )
    assert.equal(claimedTier(input), 3)
  })

  for (const [what, change, claimed] of [
    ['a missing requirement', (results) => results.delete('A2ACLI_PUSH_002'), 2],
    ['an empty map', (results) => results.clear(), 0],
    [
      'a failure in tier 1, whatever tier 2 and 3 are',
      (results) => set(results, 'A2ACLI_SEND_001', 'fail', 'broken'),
      0,
    ],
    ['a result that was not measured', (results) => set(results, 'A2ACLI_CLI_002', 'not_measured', 'no shell'), 1],
    ['a partial result', (results) => set(results, 'A2ACLI_TX_004', 'partial', 'one binding'), 1],
    ['an unknown status', (results) => set(results, 'A2ACLI_TX_004', 'ok' as Status, 'fine'), 1],
    ['a result other than pass without a note', (results) => set(results, 'A2ACLI_TX_004', 'na', ''), 1],
  ] as const satisfies readonly (readonly [
    string,
    (results: Map<RequirementId, RequirementResult>) => unknown,
    number,
  ])[])
    it(`does not count ${what}`, () => {
      const results = allPass()
      change(results)
      assert.equal(claimedTier({ results, defaults }), claimed)
    })

  it('counts a justified n/a, and no defaults without their rows', () => {
    const results = allPass()
    set(results, 'A2ACLI_SKILL_001', 'na', 'The tool ships no skill.')
    assert.equal(claimedTier({ results, defaults }), 3)
    assert.equal(claimedTier({ results, defaults: defaultRows(false) }), 0)
    assert.equal(claimedTier({ results, defaults: {} }), 0)
  })

  it('is YAML that a program reads, also with quotes and colons in the evidence', () => {
    const results = allPass()
    const shows = 'prints "a: b" and #c'
    results.set('A2ACLI_SEND_001', { status: 'pass', evidence: [{ command: `a2a send 'x: "y"'`, exit: 0, shows }] })
    const report = parse(
      yamlReport({ toolVersion: '1.2.3', date: '2026-01-02', results, defaults, errorCodes: {} }),
    ) as {
      report: { tier_claimed: number; spec_version: string; spec_revision: string }
      requirements: Record<string, { evidence: string[]; status: string }>
    }
    assert.deepEqual([report.report.tier_claimed, report.report.spec_version], [3, '0.2'])
    assert.equal(Object.keys(report.requirements).length, 66)
    assert.deepEqual(report.requirements['A2ACLI_SEND_001']?.evidence, [`a2a send 'x: "y"' → 0: ${shows}`])
  })
})

function set(results: Map<RequirementId, RequirementResult>, id: RequirementId, status: Status, note: string): void {
  results.set(id, { status, note, evidence: [] })
}
