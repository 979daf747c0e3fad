/** The report in Markdown, for a pull request or the summary of a workflow. */
import { neutralize } from '@parley/a2a/command-line'
import type { CheckResult, ConformanceReport } from '../report.ts'
import { interfaceOf, legend } from './cell.ts'
import { conclusionOf } from './conclusion.ts'
import { groupResults, groupUndecided, matrixOf } from './matrix.ts'

/** Returns the report as a Markdown document. */
export function markdownReport(report: ConformanceReport): string {
  const { agent, targets, startedAt, summary, results, messagesSent } = report
  const failed = results.filter(({ outcome }) => outcome === 'fail')
  const open = groupUndecided(results)
  const named = [agent.name, agent.version].filter(Boolean).join(' ')
  const lines = [
    `# A2A conformance${named === '' ? '' : ` of ${text(named)}`}`,
    '',
    `${code(agent.url)}, checked ${startedAt} with ${messagesSent} messages. Result: ${conclusionOf(report)}.`,
    '',
    '| level | passed | failed | accepted | undecided | not applicable |',
    '|---|---|---|---|---|---|',
    ...(['must', 'should', 'info'] as const).map((level) => {
      const { pass, fail, accepted, undecided, notApplicable } = summary[level]
      return `| ${level} | ${pass} | ${fail} | ${accepted} | ${undecided} | ${notApplicable} |`
    }),
    '',
    '| version | binding | address |',
    '|---|---|---|',
    ...targets.map(({ version, binding, url }) => `| ${version} | ${binding} | ${code(url)} |`),
    ...(failed.length === 0
      ? ['', 'No check failed.']
      : [
          '',
          failed.every(({ accepted }) => accepted !== undefined) ? '## Accepted failures' : '## Failures',
          ...groupResults(failed).flatMap(failureLines),
        ]),
    ...(open.length === 0
      ? []
      : ['', '## Undecided', '', ...open.map(({ why, ids }) => `- ${text(why)}: ${ids.map(code).join(', ')}`)]),
    '',
    '## All checks',
    '',
    ...matrixLines(report),
    '',
    `${legend}.`,
    '',
  ]
  return neutralize(lines.join('\n'))
}

function failureLines(group: readonly [CheckResult, ...CheckResult[]]): readonly string[] {
  const [{ id, level, title, section, note = '', advice, evidence, accepted }] = group
  return [
    '',
    `### ${code(id)} (${level})`,
    '',
    `${text(title)}. ${text(section)}. On ${group.map(interfaceOf).join(', ')}.`,
    '',
    `Found: ${text(note)}${accepted === undefined ? '' : ` Accepted: ${text(accepted)}`}${advice === undefined ? '' : ` Advice: ${text(advice)}`}`,
    ...(evidence === undefined
      ? []
      : [
          '',
          '<details><summary>Exchange</summary>',
          '',
          ...fenced(evidence.request),
          '',
          ...fenced(evidence.response),
          '',
          '</details>',
        ]),
  ]
}

function matrixLines(report: ConformanceReport): readonly string[] {
  const { columns, rows } = matrixOf(report)
  return [
    `| check | level | ${columns.join(' | ')} |`,
    `|---|---|${columns.map(() => '---|').join('')}`,
    ...rows.map(
      ({ id, level, cells }) =>
        `| ${code(id)} | ${level} | ${cells.map((cell) => (cell === 'FAIL' ? '**FAIL**' : cell)).join(' | ')} |`,
    ),
  ]
}

/** Text of the agent is no Markdown and no HTML. */
const text = (value: string): string =>
  value.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>|#&]/g, (one) => `&#${one.charCodeAt(0)};`)

const code = (value: string): string => `\`${value.replaceAll(/[`|\s]+/g, ' ')}\``

/** A fence that is longer than any in the text. */
function fenced(content: string): readonly string[] {
  const longest = Math.max(2, ...[...content.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return [fence, content, fence]
}
