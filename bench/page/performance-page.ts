/**
 * Writes the results into docs/explanation/performance.md, between its markers, and its plots. The measurements are kept in
 * docs/explanation/performance/results.json, so that a run with `--only` replaces its own rows and leaves the others.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { lineup } from '../contestants/lineup.ts'
import { contestantsOf, formatTable, type Measure } from '../report.ts'
import { targets } from '../targets.ts'
import { createPlots, type Plot } from './plots.ts'

export interface RunFacts {
  /** The day of the run. */
  readonly date: string
  readonly mode: 'full' | 'quick'
  readonly machine: string
}

type StoredMeasure = Measure & { readonly run: RunFacts }

const docs = join(import.meta.dirname, '../../docs/explanation')
const page = join(docs, 'performance.md')
const folder = join(docs, 'performance')
const results = join(folder, 'results.json')
const [startMark, endMark] = ['<!-- results: written by npm run bench -- --write -->', '<!-- end of results -->']

export function describeRun(mode: RunFacts['mode'], now = new Date()): RunFacts {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return {
    date: now.toISOString().slice(0, 10),
    mode,
    machine: `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${memory} GB, Linux ${release().split('-')[0]}, Node ${process.versions.node}`,
  }
}

function readResults(): readonly StoredMeasure[] {
  try {
    return JSON.parse(readFileSync(results, 'utf8')) as StoredMeasure[]
  } catch {
    return []
  }
}

/** New measurements replace those of the same name; the others stay where they are. */
export function mergeResults(
  known: readonly StoredMeasure[],
  measured: readonly StoredMeasure[],
): readonly StoredMeasure[] {
  const fresh = new Map(measured.map((measure) => [measure.name, measure]))
  const kept = known.map((measure) => fresh.get(measure.name) ?? measure)
  const names = new Set(known.map(({ name }) => name))
  return [...kept, ...measured.filter(({ name }) => !names.has(name))]
}

/** Tables with few columns: one for each set of contestants that were measured together. */
function tables(measures: readonly Measure[]): string {
  const groups = new Map<string, Measure[]>()
  for (const measure of measures) {
    const key = contestantsOf([measure]).join()
    groups.set(key, [...(groups.get(key) ?? []), measure])
  }
  return [...groups.values()].map((group) => formatTable(group, contestantsOf(group))).join('\n\n')
}

function runLines(measures: readonly StoredMeasure[]): readonly string[] {
  const runs = new Map<string, StoredMeasure[]>()
  for (const measure of measures) {
    const { date, mode, machine } = measure.run
    const text = `${date}, ${mode} mode: ${machine}`
    runs.set(text, [...(runs.get(text) ?? []), measure])
  }
  const largest = Math.max(...[...runs.values()].map(({ length }) => length))
  const all = [...runs].map(([text, { length }]) => `- ${text} (${length} figures)`)
  if (runs.size === 1 && measures.every(({ run }) => run.mode === 'full')) return all
  const others = [...runs].filter(([, own]) => own.length < largest)
  const named = others.flatMap(([text, own]) => [
    '',
    `These measures are from the run of ${text.split(':')[0]}; the others are not:`,
    '',
    ...[...new Set(own.map(({ what }) => what))].map((what) => `- ${what}`),
  ])
  const rough = measures.some(({ run }) => run.mode === 'quick')
    ? ' Figures of the quick mode are rough: they show that every measure works, and their verdicts do not count.'
    : ''
  return [
    ...all,
    '',
    `Not all figures are from one full run: compare only figures of one run. \`npm run bench -- --write\` replaces all of them.${rough}`,
    ...named,
  ]
}

function targetRows(measures: readonly Measure[]): readonly string[] {
  const rows = targets(measures).map(({ text, met, got }) => {
    const verdict = met === undefined ? 'not measured' : met ? 'met' : '**missed**'
    return `| ${text} | ${got || '–'} | ${verdict} |`
  })
  return ['| target | measured | |', '|---|--:|---|', ...rows]
}

export function renderResults(measures: readonly StoredMeasure[], plots: readonly Plot[]): string {
  const about = contestantsOf(measures).map((name) => `| ${lineup[name].title} | ${lineup[name].about} |`)
  return [
    '### Runs',
    runLines(measures).join('\n'),
    '### Targets',
    targetRows(measures).join('\n'),
    '### Plots',
    ...plots.map(({ file, title }) => `![${title}](performance/${file})`),
    '### Contestants',
    ['| contestant | what it is |', '|---|---|', ...about].join('\n'),
    '### Figures',
    tables(measures),
  ].join('\n\n')
}

export function replaceBetweenMarks(text: string, content: string): string {
  const [from, to] = [text.indexOf(startMark), text.indexOf(endMark)]
  if (from < 0 || to < from) throw new Error(`docs/explanation/performance.md has no ${startMark} before ${endMark}`)
  return `${text.slice(0, from + startMark.length)}\n\n${content}\n\n${text.slice(to)}`
}

/** With `isPartial`, measurements of other measures stay. */
export function writePerformancePage(measures: readonly Measure[], run: RunFacts, isPartial: boolean): void {
  const rounded = measures.map((measure): StoredMeasure => ({
    ...measure,
    values: Object.fromEntries(
      Object.entries(measure.values).map(([name, value]) => [name, Number(value.toPrecision(4))]),
    ),
    run,
  }))
  const all = mergeResults(isPartial ? readResults() : [], rounded)
  const plots = createPlots(all)
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder)) if (file.endsWith('.svg')) rmSync(join(folder, file))
  for (const { file, svg } of plots) writeFileSync(join(folder, file), svg)
  writeFileSync(results, `${JSON.stringify(all, null, 2)}\n`)
  writeFileSync(page, replaceBetweenMarks(readFileSync(page, 'utf8'), renderResults(all, plots)))
}
