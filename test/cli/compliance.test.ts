/**
 * Every requirement of the a2a-cli specification, shown by the real program against a live agent. The record of the commands is the
 * compliance report: `npm run cli-report` writes it, and the last test compares it with docs/reference/cli-compliance.*.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { exitCodeOf } from '../../packages/cli/src/output/cli-error.ts'
import { checks } from './compliance/checks/index.ts'
import { defaultRows } from './compliance/default-rows.ts'
import { registry, type RequirementId } from './compliance/registry.ts'
import {
  claimedTier,
  markdownReport,
  yamlReport,
  type ReportInput,
  type RequirementResult,
} from './compliance/report.ts'
import { extras } from './compliance/extras.ts'
import { createWorkbench, type EvidenceStep } from './compliance/workbench.ts'

const root = join(import.meta.dirname, '../..')
const yamlFile = join(root, 'docs/reference/cli-compliance.yaml')
const markdownFile = join(root, 'docs/reference/cli-compliance.md')
const isWriting = process.env['PARLEY_CLI_REPORT'] === 'write'

const results = new Map<RequirementId, RequirementResult>()

describe('a2a fulfils the a2a-cli specification', { concurrency: 3 }, () => {
  for (const [id, { requirement }] of registry)
    it(`${id}: ${requirement}`, async () => {
      const check = checks[id]
      assert.ok(check, `${id} has no check`)
      await using bench = await createWorkbench()
      try {
        await check(bench)
      } catch (reason) {
        results.set(id, { status: 'fail', note: 'Its check failed.', evidence: [] })
        throw reason
      }
      assert.ok(bench.steps.length > 0, 'a check shows something')
      results.set(id, { status: 'pass', evidence: bench.steps })
    })
})

const shownExtras = new Map<string, readonly EvidenceStep[]>()

describe('a2a does more than the specification requires', () => {
  for (const { title, check } of extras)
    it(title, async () => {
      await using bench = await createWorkbench()
      await check(bench)
      shownExtras.set(title, bench.steps)
    })
})

describe('the compliance report', () => {
  it('is the one of this run, and claims tier 3', async () => {
    const committed = await readFile(yamlFile, 'utf8').catch(() => '')
    const [, oldDate = ''] = /report_date: (\S+)/.exec(committed) ?? []
    const report = (date: string): ReportInput => ({ ...input(), date })
    const isSame = yamlReport(report(oldDate)) === committed
    // A report that shows nothing new keeps its date.
    const current = report(isSame ? oldDate : new Date().toISOString().slice(0, 10))
    if (isWriting) {
      await writeFile(yamlFile, yamlReport(current))
      await writeFile(markdownFile, markdownReport(current))
    }
    assert.equal(claimedTier(current), 3)
    const hint = 'run `npm run cli-report`'
    assert.equal(await readFile(yamlFile, 'utf8'), yamlReport(isWriting ? current : report(oldDate)), hint)
    assert.equal(await readFile(markdownFile, 'utf8'), markdownReport(isWriting ? current : report(oldDate)), hint)
  })
})

function input(): Omit<ReportInput, 'date'> {
  const manifest = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8')) as { version: string }
  const text = [...results.values()].flatMap(({ evidence }) => evidence.map(({ shows }) => shows)).join('\n')
  return {
    toolVersion: manifest.version,
    results,
    defaults: defaultRows(results.get('A2ACLI_DEFAULT_001')?.status === 'pass'),
    errorCodes: Object.fromEntries(Object.keys(exitCodeOf).map((code) => [code, text.includes(code)])),
    extras: extras.map(({ title, about }) => ({ title, about, evidence: shownExtras.get(title) ?? [] })),
  }
}
