/** The tables at the end of `npm test`: where the time went. */
import { relative } from 'node:path'

const slowestFiles = 10

/** One line a suite, the longest first, the sum, and the time that passed: suites run side by side. */
export function formatSuiteTimes(suiteMs: Readonly<Record<string, number>>, wallMs: number): string {
  const rows = longestFirst(suiteMs)
  const sumMs = rows.reduce((total, [, ms]) => total + ms, 0)
  const width = Math.max('suite'.length, ...rows.map(([name]) => name.length))
  const line = (name: string, ms: number): string =>
    `${name.padEnd(width)}  ${seconds(ms)} s  ${percent(ms, sumMs).padStart(4)}`
  return [
    `${'suite'.padEnd(width)}  ${'time'.padStart(9)}`,
    ...rows.map(([name, ms]) => line(name, ms)),
    `${'sum'.padEnd(width)}  ${seconds(sumMs)} s  (${minutes(sumMs)})`,
    `${'took'.padEnd(width)}  ${seconds(wallMs)} s  (${minutes(wallMs)})`,
  ].join('\n')
}

/** The files that took longest, with paths relative to `root`. */
export function formatSlowestFiles(fileMs: Readonly<Record<string, number>>, root: string): string {
  const rows = longestFirst(fileMs).slice(0, slowestFiles)
  return ['slowest files', ...rows.map(([file, ms]) => `${seconds(ms)} s  ${relative(root, file)}`)].join('\n')
}

function longestFirst(times: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(times).sort(([, a], [, b]) => b - a)
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1).padStart(7)
}

function minutes(ms: number): string {
  return `${(ms / 60_000).toFixed(1)} min`
}

function percent(ms: number, sumMs: number): string {
  return `${Math.round((100 * ms) / Math.max(sumMs, 1))} %`
}
