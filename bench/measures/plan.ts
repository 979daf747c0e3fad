/** How much is measured. The quick plan is for every change, the full one for the figures that are published. */
import type { Measure } from '../report.ts'
import type { ContestantName } from '../contestants/lineup.ts'
import type { MeasuredWork } from './participation.ts'

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
  /** Streams of 100 chunks before it. 20 let the compiler optimize the path, and are short enough not to affect the memory. */
  readonly chunkWarmUps: number
  readonly announcements: number
  /** Each in a new process: the time for 1,000 subscribers differs by a tenth between processes. */
  readonly fanOutRounds: number
  /** 10,000 subscribers: the number of processes. */
  readonly manySubscribersRounds: number
  /** Requests on one connection whose time is taken, for each contestant of a measure of latency. */
  readonly samples: number
  /** How often a server is killed while it streams, and how often one is started. */
  readonly kills: number
  readonly starts: number
  /** Stored tasks: what GetTask of cold tasks reads, and the sizes of the stores that ListTasks reads. */
  readonly coldTasks: number
  readonly listSizes: readonly number[]
  readonly pushTasks: number
  readonly pushRounds: number
  /** Events whose way to a reader on another replica is timed. */
  readonly ticks: number
  /** Readers of tasks that report nothing, for so many milliseconds. */
  readonly idle: { readonly tasks: number; readonly readers: number; readonly ms: number }
  /** Whether this is the quick plan: enough to show that every measure works. */
  readonly isQuick: boolean
  /** Those that take part, without those that cannot run here. */
  contestantsIn(work: MeasuredWork): readonly ContestantName[]
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

// The cost of `@a2a-js/sdk` grows with the square of the length: 26 s for 4,000 chunks, five minutes for 16,000. Its SQL store
// writes the whole task for every chunk.
const a2aJsTrials: Readonly<Record<number, number>> = { 1_000: 3, 4_000: 1 }

type Amounts = Omit<Plan, 'contestantsIn' | 'against' | 'profileTo' | 'wants' | 'tell'>

export const quickPlan: Amounts = {
  processes: 1,
  rounds: 1,
  warmUpRounds: 1,
  roundMs: 100,
  // Up to 16,000 of ours: the stored bytes of two lengths are compared.
  chunkTrials: (contestant, chunks) => (chunks > (contestant === 'parley' ? 16_000 : 1_000) ? 0 : 1),
  chunkWarmUps: 2,
  announcements: 2,
  fanOutRounds: 1,
  manySubscribersRounds: 1,
  samples: 20,
  kills: 1,
  starts: 1,
  coldTasks: 5_000,
  // That of `coldTasks`, so that one file serves both measures.
  listSizes: [5_000],
  pushTasks: 200,
  pushRounds: 1,
  ticks: 150,
  idle: { tasks: 100, readers: 1_000, ms: 2_000 },
  isQuick: true,
}

export const fullPlan: Amounts = {
  processes: 1,
  rounds: 7,
  warmUpRounds: 4,
  roundMs: 1_200,
  chunkTrials(contestant, chunks) {
    if (contestant === 'a2a-js') return a2aJsTrials[chunks] ?? 0
    if (contestant.startsWith('a2a-')) return chunks > 1_000 ? 0 : 1
    return chunks > 16_000 ? 3 : 5
  },
  chunkWarmUps: 20,
  announcements: 9,
  fanOutRounds: 5,
  manySubscribersRounds: 2,
  samples: 400,
  kills: 5,
  starts: 5,
  coldTasks: 100_000,
  listSizes: [1_000, 100_000, 1_000_000],
  pushTasks: 4_000,
  pushRounds: 2,
  ticks: 1_000,
  idle: { tasks: 1_000, readers: 10_000, ms: 20_000 },
  isQuick: false,
}

/**
 * For `--against`. The same code in two processes differs by up to 13 %, because of the JIT compiler, so a
 * difference of 3 % shows only over many processes.
 */
export const comparisonPlan: Amounts = { ...fullPlan, processes: 9, rounds: 3, warmUpRounds: 4, roundMs: 1_000 }
