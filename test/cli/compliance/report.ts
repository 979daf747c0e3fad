/**
 * The compliance report of the a2a-cli specification: the outcome of every requirement with its evidence, as Markdown for people and
 * as one YAML file for programs. Fail-closed: a requirement without a result, or with an unknown one, satisfies no tier.
 */
import { registry, specification, type Requirement, type RequirementId, type Tier } from './registry.ts'
import type { EvidenceStep } from './workbench.ts'

/** The closed vocabulary of the specification. */
export const statuses = ['pass', 'partial', 'fail', 'not_measured', 'na', 'withdrawn'] as const
export type Status = (typeof statuses)[number]

export interface RequirementResult {
  readonly status: Status
  /** Required unless the status is `pass`. */
  readonly note?: string
  readonly evidence: readonly EvidenceStep[]
}

export interface TierSummary {
  readonly total: number
  readonly pass: number
  readonly partial: number
  readonly fail: number
  readonly not_measured: number
  readonly na: number
  readonly satisfied: boolean
}

export interface DefaultRow {
  readonly shipped: boolean
  readonly overridable: boolean
  readonly note: string
}

export interface ReportInput {
  readonly toolVersion: string
  readonly date: string
  readonly results: ReadonlyMap<RequirementId, RequirementResult>
  readonly defaults: Readonly<Record<string, DefaultRow>>
  /** Whether the run has shown each error code. */
  readonly errorCodes: Readonly<Record<string, boolean>>
  /** What the program does beyond the specification. Not part of the YAML, whose form the specification defines. */
  readonly extras?: readonly {
    readonly title: string
    readonly about: string
    readonly evidence: readonly EvidenceStep[]
  }[]
}

const tiers = [1, 2, 3] as const
const tierNames: Readonly<Record<Tier, string>> = { 1: 'Core', 2: 'Standard', 3: 'Advanced' }

export function summarize(tier: Tier, { results, defaults }: Pick<ReportInput, 'results' | 'defaults'>): TierSummary {
  const ids = [...registry].filter(([, requirement]) => requirement.tier === tier).map(([id]) => id)
  const counts = { pass: 0, partial: 0, fail: 0, not_measured: 0, na: 0 }
  for (const id of ids) {
    const status = statusOf(id, results, defaults)
    if (status === 'withdrawn') throw new Error(`${id}: no requirement of this version is withdrawn`)
    counts[status] += 1
  }
  return { total: ids.length, ...counts, satisfied: ids.length > 0 && counts.pass + counts.na === ids.length }
}

/** A missing result is not measured, an unknown status or a missing note is a failure, and so are defaults without their rows. */
function statusOf(id: RequirementId, results: ReportInput['results'], defaults: ReportInput['defaults']): Status {
  const result = results.get(id)
  if (result === undefined) return 'not_measured'
  if (!statuses.includes(result.status)) return 'fail'
  if (result.status !== 'pass' && (result.note ?? '') === '') return 'fail'
  if (id !== 'A2ACLI_DEFAULT_001' || result.status !== 'pass') return result.status
  const rows = Object.values(defaults)
  return rows.length === 6 && rows.every(({ shipped, overridable }) => shipped && overridable) ? 'pass' : 'fail'
}

/** The highest tier that is satisfied with all tiers below it; 0 if there is none. */
export function claimedTier(input: Pick<ReportInput, 'results' | 'defaults'>): 0 | Tier {
  let claimed: 0 | Tier = 0
  for (const tier of tiers) {
    if (!summarize(tier, input).satisfied) return claimed
    claimed = tier
  }
  return claimed
}

/** Double-quoted strings are JSON, which YAML reads. */
const quote = (text: string): string => JSON.stringify(text)

export function yamlReport(input: ReportInput): string {
  const { results, defaults, errorCodes } = input
  return [
    '# The compliance report of `a2a` (@parley/cli). Written by `npm run cli-report`: do not edit.',
    '',
    'report:',
    ...identity(input).map(([name, value]) => `  ${name}: ${value}`),
    '',
    'summary:',
    ...tiers.map((tier) => {
      const { total, pass, partial, fail, not_measured, na, satisfied } = summarize(tier, input)
      return `  tier_${tier}: {total: ${total}, pass: ${pass}, partial: ${partial}, fail: ${fail}, not_measured: ${not_measured}, na: ${na}, satisfied: ${satisfied}}`
    }),
    '',
    'requirements:',
    ...[...registry].flatMap(([id, requirement]) =>
      yamlRow(id, requirement, statusOf(id, results, defaults), results.get(id)),
    ),
    '',
    'default_001_breakdown:',
    ...Object.entries(defaults).map(
      ([name, row]) =>
        `  ${name}: {shipped: ${yesNo(row.shipped)}, overridable: ${yesNo(row.overridable)}, note: ${quote(row.note)}}`,
    ),
    '',
    'error_codes:',
    ...Object.entries(errorCodes).map(([code, emitted]) => `  ${code}: {emitted: ${yesNo(emitted)}, note: null}`),
    '',
    'attestation:',
    '  reported_by: The maintainers of Parley',
    `  date: ${input.date}`,
    '  statement: "The tier claimed reflects the evidence recorded above."',
    '',
  ].join('\n')
}

function identity(input: ReportInput): readonly (readonly [string, string])[] {
  return [
    ['tool', 'a2a'],
    ['tool_version', input.toolVersion],
    ['language', 'TypeScript'],
    ['repository', 'packages/cli'],
    ['maintainer', 'The maintainers of Parley'],
    ['report_date', input.date],
    ['spec_version', quote(specification.version)],
    ['spec_revision', specification.revision],
    ['a2a_versions', '["1.0", "0.3", "0.2"]'],
    [
      'agent_tested',
      quote('The fixture agent of test/cli, on the server of @parley/a2a, which passes the official kit (npm run kit)'),
    ],
    ['agent_tck_conformant', 'unknown'],
    ['transports_covered', '[JSON-RPC, HTTP+JSON, gRPC]'],
    ['tier_claimed', String(claimedTier(input))],
  ]
}

function yamlRow(
  id: RequirementId,
  { tier, area, spec, requirement }: Requirement,
  status: Status,
  result: RequirementResult | undefined,
): readonly string[] {
  const steps = result?.evidence ?? []
  return [
    `  ${id}:`,
    `    tier: ${tier}`,
    `    area: ${area}`,
    `    spec: ${quote(spec)}`,
    `    requirement: ${quote(requirement)}`,
    `    status: ${status}`,
    `    note: ${noteOf(status, result) === '' ? 'null' : quote(noteOf(status, result))}`,
    ...(steps.length === 0
      ? ['    evidence: null']
      : ['    evidence:', ...steps.map((step) => `      - ${quote(stepText(step))}`)]),
  ]
}

function noteOf(status: Status, result: RequirementResult | undefined): string {
  return result?.note ?? (status === 'pass' ? '' : 'No check of this requirement ran.')
}

function stepText({ command, exit, shows }: EvidenceStep): string {
  return command === undefined ? shows : `${command} → ${exit}: ${shows}`
}

const marks: Readonly<Record<Status, string>> = {
  pass: '✅ Pass',
  partial: '◐ Partial',
  fail: '❌ Fail',
  not_measured: '⊘ Not measured',
  na: '— N/A',
  withdrawn: '⊗ Withdrawn',
}

export function markdownReport(input: ReportInput): string {
  const { results, defaults, errorCodes, extras = [] } = input
  const passed = [...registry.keys()].filter((id) => ['pass', 'na'].includes(statusOf(id, results, defaults))).length
  return [
    '# Compliance of the command line',
    '',
    `\`a2a\` satisfies ${passed} of ${registry.size} requirements of the a2a-cli specification ${specification.version} (revision ${specification.revision}).`,
    'This page and `cli-compliance.yaml` beside it, the same in the form of [the specification](https://github.com/a2aproject/a2a-cli),',
    'are written by `npm run cli-report`, which runs every command below against a live agent. CI repeats it and compares.',
    '',
    '| | |',
    '|---|---|',
    ...identity(input).map(([name, value]) => `| ${name.replaceAll('_', ' ')} | ${value.replaceAll('"', '')} |`),
    '',
    '## Results',
    '',
    '| tier | requirements | ✅ | ◐ | ❌ | ⊘ | — | satisfied |',
    '|---|---|---|---|---|---|---|---|',
    ...tiers.map((tier) => {
      const { total, pass, partial, fail, not_measured, na, satisfied } = summarize(tier, input)
      return `| ${tier}, ${tierNames[tier]} | ${total} | ${pass} | ${partial} | ${fail} | ${not_measured} | ${na} | ${yesNo(satisfied)} |`
    }),
    '',
    ...tiers.flatMap((tier) => [
      `## Tier ${tier}: ${tierNames[tier]}`,
      '',
      ...[...registry]
        .filter(([, requirement]) => requirement.tier === tier)
        .flatMap(([id, requirement]) => markdownRow(id, requirement, statusOf(id, results, defaults), results.get(id))),
    ]),
    '## Defaults',
    '',
    '| default | shipped | overridable | how |',
    '|---|---|---|---|',
    ...Object.entries(defaults).map(
      ([name, row]) =>
        `| ${name.replaceAll('_', ' ')} | ${yesNo(row.shipped)} | ${yesNo(row.overridable)} | ${row.note} |`,
    ),
    '',
    '## Error codes',
    '',
    '| code | emitted |',
    '|---|---|',
    ...Object.entries(errorCodes).map(([code, emitted]) => `| \`${code}\` | ${yesNo(emitted)} |`),
    '',
    '## Extras',
    '',
    'What `a2a` does beyond the specification, without changing what a script gets that does not ask for it.',
    '',
    ...extras.flatMap(({ title, about, evidence }) => [`### ${title}`, '', about, '', ...evidenceLines(evidence), '']),
  ].join('\n')
}

function markdownRow(
  id: RequirementId,
  { spec, requirement }: Requirement,
  status: Status,
  result: RequirementResult | undefined,
): readonly string[] {
  const note = noteOf(status, result)
  return [
    `### ${id}`,
    '',
    `${marks[status]} · ${spec} · ${requirement}.`,
    ...(note === '' ? [] : ['', note]),
    '',
    ...evidenceLines(result?.evidence ?? []),
    '',
  ]
}

function evidenceLines(evidence: readonly EvidenceStep[]): readonly string[] {
  return evidence.map(({ command, exit, shows }) =>
    command === undefined ? `- ${shows}` : `- ${code(command)} exits with ${exit}: ${shows}`,
  )
}

/** Inline code, also of text that contains a backtick. */
function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no'
}
