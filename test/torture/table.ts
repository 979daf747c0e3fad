/** The end of a torture run, as a table. */
import type { MemoryTrend } from './memory.ts'
import type { TortureResult } from './torture.ts'

export function tableOf({ seed, minutes, worlds, memory }: TortureResult): string {
  const kinds = [...new Set(worlds.flatMap(({ faults }) => [...faults.keys()]))].sort()
  const rows: (readonly [string, ...(string | number)[]])[] = [
    ['', ...worlds.map(({ world }) => world)],
    ['rounds', ...worlds.map(({ rounds }) => rounds)],
    ['kills', ...worlds.map(({ kills }) => kills)],
    ...kinds.map((kind) => [`  ${kind}`, ...worlds.map(({ faults }) => faults.get(kind) ?? 0)] as const),
    ['backups', ...worlds.map(({ backups }) => backups)],
    ['tasks', ...worlds.map(({ tasks }) => tasks)],
    ['messages', ...worlds.map(({ messages }) => messages)],
    ['events told', ...worlds.map(({ eventsTold }) => eventsTold)],
    ['answers', ...worlds.map(({ answers }) => answers)],
    ['webhook deliveries', ...worlds.map(({ pushes }) => pushes)],
    ['calls retried', ...worlds.map(({ retries }) => retries)],
    ['violations', ...worlds.map(({ violations }) => violations.length)],
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => String(row[column]).length))) ?? []
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return column === 0 ? String(cell).padEnd(width) : String(cell).padStart(width)
      })
      .join('  '),
  )
  const violations = worlds.flatMap(({ world, violations: found }) => found.map((text) => `${world}: ${text}`))
  return [...lines, '', ...violations, ...describeMemory(memory), `seed ${seed}, ${minutes.toFixed(1)} minutes`].join(
    '\n',
  )
}

function describeMemory(memory: MemoryTrend | undefined): readonly string[] {
  if (memory === undefined) return []
  const { samples, firstBytes, lastBytes, slopeBytesPerTask, errorBytesPerTask, isFlat } = memory
  const [first, last] = [firstBytes, lastBytes].map((bytes) => (bytes / 1e6).toFixed(1))
  const verdict = isFlat === undefined ? 'too few tasks to judge' : isFlat ? 'flat' : 'it grows'
  return [
    `memory of the steady hub after collection: ${first} MB to ${last} MB over ${samples} samples, ` +
      `${slopeBytesPerTask.toFixed(0)} ± ${errorBytesPerTask.toFixed(0)} bytes per task: ${verdict}`,
  ]
}
