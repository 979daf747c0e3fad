/** Whether the memory of a process that lives on is flat: the slope of its heap after collection, and how sure that is. */
import type { HeapSample } from './probe.ts'

export interface MemorySample extends HeapSample {
  /** Tasks that the process had run by then. */
  readonly tasks: number
}

export interface MemoryTrend {
  readonly samples: number
  readonly firstBytes: number
  readonly lastBytes: number
  readonly slopeBytesPerTask: number
  /** The standard error of the slope. */
  readonly errorBytesPerTask: number
  /** Absent if the process ran too few tasks to fill its caches: growth is then expected. */
  readonly isFlat?: boolean
}

/** The first part of a run fills caches that are bounded, with up to so many tasks. */
const warmUpShare = 0.4
const warmUpTasks = 20_000
const fewestSamples = 6
/** What an operation may leave behind, as in the leak tests. */
const allowedBytesPerTask = 200

/** Nothing if there are too few samples to say anything. */
export function trendOf(samples: readonly MemorySample[]): MemoryTrend | undefined {
  const late = samples.slice(Math.floor(samples.length * warmUpShare))
  const warm = late.filter(({ tasks }) => tasks >= warmUpTasks)
  const isWarm = warm.length >= fewestSamples
  const kept = isWarm ? warm : late
  const [first, last] = [kept[0], kept.at(-1)]
  if (kept.length < fewestSamples || first === undefined || last === undefined) return undefined
  const points = kept.map(({ tasks, heapBytes, externalBytes }) => [tasks, heapBytes + externalBytes] as const)
  const meanX = meanOf(points.map(([x]) => x))
  const meanY = meanOf(points.map(([, y]) => y))
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  if (spread === 0) return undefined
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread
  const residual = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0)
  const error = Math.sqrt(residual / (points.length - 2) / spread)
  return {
    samples: kept.length,
    firstBytes: first.heapBytes + first.externalBytes,
    lastBytes: last.heapBytes + last.externalBytes,
    slopeBytesPerTask: slope,
    errorBytesPerTask: error,
    ...(isWarm ? { isFlat: slope <= allowedBytesPerTask || slope <= 3 * error } : {}),
  }
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
