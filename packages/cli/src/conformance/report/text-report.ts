/** The report for a terminal. */
import { neutralize } from '@parley/a2a/command-line'
import type { CheckResult, ConformanceReport } from '../report.ts'
import { interfaceOf, legend } from './cell.ts'
import { conclusionOf } from './conclusion.ts'
import { groupResults, groupUndecided, matrixOf } from './matrix.ts'

/** How much a text report shows. */
export interface TextReportOptions {
  /** With the exchange of every failure. */
  readonly showsEvidence: boolean
}

/** Returns the report as text for a terminal. */
export function textReport(report: ConformanceReport, { showsEvidence }: TextReportOptions): string {
  const failed = report.results.filter(({ outcome }) => outcome === 'fail')
  const open = groupUndecided(report.results)
  const lines = [
    ...headLines(report),
    '',
    ...tableLines(report),
    '',
    legend,
    ...(failed.length === 0
      ? []
      : ['', failuresHeading(failed), ...groupResults(failed).flatMap((group) => failureLines(group, showsEvidence))]),
    ...(open.length === 0
      ? []
      : ['', 'Undecided:', ...open.flatMap(({ why, ids }) => [`  ${why}:`, `    ${ids.join(', ')}`]), profileHint]),
    '',
    ...summaryLines(report),
    '',
    `Result: ${conclusionOf(report)}`,
  ]
  // One line each: text of the agent must not look like a line of the report.
  return neutralize(lines.map((line) => line.replaceAll(/\s*[\r\n]\s*/g, ' ').trimEnd()).join('\n'))
}

const failuresHeading = (failed: readonly CheckResult[]): string =>
  failed.every(({ accepted }) => accepted !== undefined) ? 'Accepted failures:' : 'Failures:'

const profileHint = '  A profile is a JSON file with messages and a second caller: --profile <file>.'

function headLines({ agent, targets, messagesSent, durationMs }: ConformanceReport): readonly string[] {
  return [
    `Agent: ${[agent.name, agent.version].filter(Boolean).join(' ') || '-'}`,
    `URL: ${agent.url}`,
    ...targets.map(({ version, binding, url }) => `Interface: ${version} ${binding} ${url}`),
    `Messages sent: ${messagesSent}`,
    `Duration: ${(durationMs / 1000).toFixed(1)} s`,
  ]
}

const shortBinding: Readonly<Record<string, string>> = { JSONRPC: 'jsonrpc', 'HTTP+JSON': 'rest', GRPC: 'grpc' }

function tableLines(report: ConformanceReport): readonly string[] {
  const { columns, rows } = matrixOf(report)
  if (rows.length === 0) return ['No check applies.']
  const heads = columns.map((column) => {
    const [version = '', binding = ''] = column.split(' ')
    return `${version} ${shortBinding[binding] ?? binding}`
  })
  const idWidth = Math.max(5, ...rows.map(({ id }) => id.length))
  const levelWidth = Math.max(5, ...rows.map(({ level }) => level.length))
  const row = (id: string, level: string, cells: readonly string[]): string =>
    [
      id.padEnd(idWidth),
      level.padEnd(levelWidth),
      ...cells.map((cell, index) => cell.padEnd(heads[index]?.length ?? 0)),
    ].join('  ')
  return [row('CHECK', 'LEVEL', heads), ...rows.map(({ id, level, cells }) => row(id, level, cells))]
}

function failureLines(group: readonly [CheckResult, ...CheckResult[]], showsEvidence: boolean): readonly string[] {
  const [first] = group
  const indent = (text: string): readonly string[] => text.split('\n').map((line) => `      ${line}`)
  return [
    `  ${first.id} [${first.level}] ${group.map(interfaceOf).join(', ')}`,
    `    Rule: ${first.title} (${first.section})`,
    `    Found: ${first.note ?? ''}`,
    ...(first.advice === undefined ? [] : [`    Advice: ${first.advice}`]),
    ...(first.accepted === undefined ? [] : [`    Accepted: ${first.accepted}`]),
    ...(showsEvidence && first.evidence !== undefined
      ? ['    Request:', ...indent(first.evidence.request), '    Response:', ...indent(first.evidence.response)]
      : []),
  ]
}

function summaryLines({ summary }: ConformanceReport): readonly string[] {
  return (['must', 'should', 'info'] as const).map((level) => {
    const { pass, fail, accepted, undecided, notApplicable } = summary[level]
    const known = accepted === 0 ? '' : `, ${accepted} accepted`
    return `${level.padEnd(6)} ${pass} passed, ${fail} failed${known}, ${undecided} undecided, ${notApplicable} not applicable`
  })
}
