/** The report as JUnit XML: a suite for each interface, a case for each check. */
import { neutralize } from '@parley/a2a/command-line'
import type { CheckResult, ConformanceReport } from '../report.ts'
import { interfaceOf } from './cell.ts'

/** The level from which a failure counts. */
export type FailOn = 'must' | 'should' | 'never'

/** A failure that does not count for `failOn` is a skipped case, so that a build server agrees with the exit code. */
export function junitReport(report: ConformanceReport, failOn: FailOn): string {
  const suites = [...new Set(report.results.map(interfaceOf))].map((name) => ({
    name,
    results: report.results.filter((result) => interfaceOf(result) === name),
  }))
  const counts = (results: readonly CheckResult[]): string => {
    const failures = results.filter((result) => countsAsFailure(result, failOn)).length
    const skipped = results.filter((result) => result.outcome !== 'pass').length - failures
    const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000
    return `tests="${results.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${seconds.toFixed(3)}"`
  }
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="A2A conformance of ${xml(report.agent.url)}" ${counts(report.results)}>`,
    ...suites.flatMap(({ name, results }) => [
      `  <testsuite name="A2A ${xml(name)}" timestamp="${xml(report.startedAt)}" ${counts(results)}>`,
      ...results.flatMap((result) => testCase(result, failOn)),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

function countsAsFailure({ outcome, level, accepted }: CheckResult, failOn: FailOn): boolean {
  if (outcome !== 'fail' || accepted !== undefined || failOn === 'never') return false
  return level === 'must' || (level === 'should' && failOn === 'should')
}

function testCase(result: CheckResult, failOn: FailOn): readonly string[] {
  const { id, title, section, level, outcome, note = '', advice, evidence, durationMs, accepted } = result
  const head = `    <testcase classname="a2a.${xml(interfaceOf(result).replace(' ', '.'))}" name="${xml(`${id}: ${title}`)}" time="${(durationMs / 1000).toFixed(3)}"`
  if (outcome === 'pass') return [`${head}/>`]
  if (!countsAsFailure(result, failOn)) {
    const why =
      outcome === 'fail'
        ? `${accepted === undefined ? level : `accepted: ${accepted}`}; ${note}`
        : `${outcome}: ${note}`
    return [`${head}>`, `      <skipped message="${xml(why)}"/>`, '    </testcase>']
  }
  const shown = evidence === undefined ? '' : `\n\n${evidence.request}\n\n${evidence.response}`
  return [
    `${head}>`,
    `      <failure type="${level}" message="${xml(note)}">${xml(`${section}: ${title}\n${note}${advice === undefined ? '' : `\n${advice}`}${shown}`)}</failure>`,
    '    </testcase>',
  ]
}

/** XML 1.0 has no control characters besides tab and line breaks, not even escaped: they are shown as in a terminal. */
function xml(text: string): string {
  return neutralize(text.toWellFormed())
    .replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
