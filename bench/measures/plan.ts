/** How much is measured. The quick plan is for every change, the full one for the figures that are published. */
import type { Measure } from '../report.ts'
import type { ContestantName } from '../workload.ts'

export interface Plan {
  /** Rounds are interleaved (A B C A B C …) and the median is taken: other processes load the machine. */
  readonly rounds: number
  /** Rounds that do not count. After four seconds of load a server still spent 15 % of its CPU on JIT compilation. */
  readonly warmUpRounds: number
  readonly roundMs: number
  /** How often the servers are restarted for a measure of throughput; the median counts. */
  readonly processes: number
  /** How often a stream of this many chunks is measured. */
  chunkTrials(contestant: ContestantName, chunks: number): number
  readonly announcements: number
  /** Each in a new process: the time for 1,000 subscribers differs by a tenth between processes. */
  readonly fanOutRounds: number
  readonly contestants: readonly ContestantName[]
  /** Another checkout of this repository, whose server is the contestant `before`. */
  readonly against?: string
  /** Where our server leaves CPU profiles, if anywhere. */
  readonly profileTo?: string
  /** Whether any of these measures was requested. */
  wants(...names: readonly string[]): boolean
  /** Prints progress and notes. */
  tell(text: string): void
}

/** Measured and reported together, because they come out of the same runs. */
export interface MeasureGroup {
  readonly names: readonly string[]
  measure(plan: Plan): Promise<readonly Measure[]>
}

// The cost of `@a2a-js/sdk` grows with the square of the length: 26 s for 4,000 chunks, five minutes for 16,000.
const a2aJsTrials: Readonly<Record<number, number>> = { 1_000: 3, 4_000: 1, 16_000: 1 }

type Amounts = Pick<
  Plan,
  'processes' | 'rounds' | 'warmUpRounds' | 'roundMs' | 'chunkTrials' | 'announcements' | 'fanOutRounds'
>

export const quickPlan: Amounts = {
  processes: 1,
  rounds: 2,
  warmUpRounds: 1,
  roundMs: 500,
  chunkTrials: (contestant, chunks) => (contestant !== 'a2a-js' ? 2 : chunks > 1_000 ? 0 : 1),
  announcements: 2,
  fanOutRounds: 1,
}

export const fullPlan: Amounts = {
  processes: 1,
  rounds: 9,
  warmUpRounds: 5,
  roundMs: 1_500,
  chunkTrials: (contestant, chunks) => (contestant === 'a2a-js' ? (a2aJsTrials[chunks] ?? 1) : 7),
  announcements: 9,
  fanOutRounds: 5,
}

/**
 * For `--against`. The same code in two processes differs by up to 13 %, because of the JIT compiler, so a
 * difference of 3 % shows only over many processes.
 */
export const comparisonPlan: Amounts = { ...fullPlan, processes: 9, rounds: 3, warmUpRounds: 4, roundMs: 1_000 }
