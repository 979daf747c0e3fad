/** How much is measured. The quick plan is for every change, the full one for the figures that are published. */
import type { Measure } from '../report.ts'
import type { ContestantName } from '../workload.ts'

export interface Plan {
  /** Rounds are interleaved (A B C A B C …) and the median is taken: the machine has other things to do. */
  readonly rounds: number
  /** Rounds that do not count. After four seconds of load a server still spent 15 % of its CPU on compiling itself. */
  readonly warmUpRounds: number
  readonly roundMs: number
  /** How often the servers are started anew for a measure of throughput; the median counts. */
  readonly processes: number
  /** How often a stream of so many chunks is measured. */
  chunkTrials(contestant: ContestantName, chunks: number): number
  readonly announcements: number
  /** Each in a new process: what 1,000 subscribers take differs by a tenth from process to process. */
  readonly fanOutRounds: number
  readonly contestants: readonly ContestantName[]
  /** Another checkout of this repository, whose server is the contestant `before`. */
  readonly against?: string
  /** Where our server leaves CPU profiles, if anywhere. */
  readonly profileTo?: string
  /** Whether any of these measures was asked for. */
  wants(...names: readonly string[]): boolean
  /** Progress, and remarks that belong to no measure. */
  tell(text: string): void
}

/** Measured and reported together, because they come out of the same runs. */
export interface MeasureGroup {
  readonly names: readonly string[]
  measure(plan: Plan): Promise<readonly Measure[]>
}

// The rival's cost grows with the square of the length: 26 s for 4,000 chunks, five minutes for 16,000.
const rivalTrials: Readonly<Record<number, number>> = { 1_000: 3, 4_000: 1, 16_000: 1 }

type Amounts = Pick<
  Plan,
  'processes' | 'rounds' | 'warmUpRounds' | 'roundMs' | 'chunkTrials' | 'announcements' | 'fanOutRounds'
>

export const quickPlan: Amounts = {
  processes: 1,
  rounds: 2,
  warmUpRounds: 1,
  roundMs: 500,
  chunkTrials: (contestant, chunks) => (contestant !== 'rival' ? 2 : chunks > 1_000 ? 0 : 1),
  announcements: 2,
  fanOutRounds: 1,
}

export const fullPlan: Amounts = {
  processes: 1,
  rounds: 9,
  warmUpRounds: 5,
  roundMs: 1_500,
  chunkTrials: (contestant, chunks) => (contestant === 'rival' ? (rivalTrials[chunks] ?? 1) : 7),
  announcements: 9,
  fanOutRounds: 5,
}

/**
 * For `--against`. The same code in two processes differs by up to 13 %, by what the compiler made of it, so a
 * difference of 3 % shows only over many processes.
 */
export const comparisonPlan: Amounts = { ...fullPlan, processes: 9, rounds: 3, warmUpRounds: 4, roundMs: 1_000 }
