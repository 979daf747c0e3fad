/** The end of a torture run, as a table. */
import type { MemoryTrend } from './memory.ts'
import type { TortureResult } from './run-torture.ts'

export function tableOf({ seed, minutes, deployments, memory }: TortureResult): string {
  const kinds = [...new Set(deployments.flatMap(({ faults }) => [...faults.keys()]))].sort()
  const rows: (readonly [string, ...(string | number)[]])[] = [
    ['', ...deployments.map(({ world }) => world)],
    ['rounds', ...deployments.map(({ rounds }) => rounds)],
    ['kills', ...deployments.map(({ kills }) => kills)],
    ...kinds.map((kind) => [`  ${kind}`, ...deployments.map(({ faults }) => faults.get(kind) ?? 0)] as const),
    ['backups', ...deployments.map(({ backups }) => backups)],
    ['tasks', ...deployments.map(({ tasks }) => tasks)],
    ['messages', ...deployments.map(({ messages }) => messages)],
    ['events received', ...deployments.map(({ eventsReceived }) => eventsReceived)],
    ['answers', ...deployments.map(({ answers }) => answers)],
    ['webhook deliveries', ...deployments.map(({ pushes }) => pushes)],
    ['calls retried', ...deployments.map(({ retries }) => retries)],
    ['violations', ...deployments.map(({ violations }) => violations.length)],
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
  const violations = deployments.flatMap(({ world, violations: found }) => found.map((text) => `${world}: ${text}`))
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
