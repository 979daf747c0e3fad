/** Deployments side by side, each with its own seeded random numbers: a run with the same seed has the same schedule of faults in each of them. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyStore } from '../../packages/hub/src/verify/verify-store.ts'
import { describeError } from '../cluster/retrying-calls.ts'
import { createRandom } from '../crash/random.ts'
import { trendOf } from './memory.ts'
import type { MemorySample, MemoryTrend } from './memory.ts'
import { openPostgresDeployment } from './postgres-deployment.ts'
import { createTortureRounds } from './torture-rounds.ts'
import type { RoundOptions, Totals } from './torture-rounds.ts'
import { openTortureEnvironment } from './environment.ts'
import type { TortureEnvironment } from './environment.ts'
import { openSqliteDeployment, openSteadyDeployment } from './sqlite-deployment.ts'
import type { Deployment } from './deployment.ts'

export interface TortureOptions {
  readonly minutes: number
  /** Of all deployments together. */
  readonly kills: number
  readonly seed: number
  readonly store: 'sqlite' | 'postgres' | 'both'
  /** A number of kills instead of a time, and no hub whose memory is measured. */
  readonly isQuick: boolean
  /** When aborted, every deployment ends after its round, and the table covers the work up to then. */
  readonly signal?: AbortSignal
  log?(line: string): void
}

export interface TortureResult {
  readonly seed: number
  readonly minutes: number
  readonly deployments: readonly Totals[]
  readonly memory?: MemoryTrend
}

type Pace = Pick<RoundOptions, 'clientsAtOnce' | 'faultsPerRound' | 'maxPauseMs' | 'heavyEvery' | 'backupEvery'>

const fullPace: Pace = { clientsAtOnce: 12, faultsPerRound: 40, maxPauseMs: 1_000, heavyEvery: 6, backupEvery: 1 }
const quickPace: Pace = { clientsAtOnce: 8, faultsPerRound: 15, maxPauseMs: 800, heavyEvery: 2, backupEvery: 1 }
/** The same agents in all rounds, so that memory samples are comparable. */
const steadyPace: Pace = {
  clientsAtOnce: 16,
  faultsPerRound: 25,
  maxPauseMs: 500,
  heavyEvery: Infinity,
  backupEvery: 10,
}

export async function runTorture(options: TortureOptions): Promise<TortureResult> {
  const { seed, store, minutes, kills, isQuick, signal, log = () => {} } = options
  const startedAt = performance.now()
  const elapsed = (): number => (performance.now() - startedAt) / 60_000
  const histories = mkdtempSync(join(tmpdir(), 'parley-torture-history-'))
  const killed = [
    ...(store === 'postgres' ? [] : [['sqlite', openSqliteDeployment] as const]),
    ...(store === 'sqlite' ? [] : [['postgres', openPostgresDeployment] as const]),
  ]
  const died = new Map<string, number>()
  const allDied = (): number => [...died.values()].reduce((sum, count) => sum + count, 0)
  /** The time limit of a machine that is too slow for its number of kills. */
  const isOverdue = (): boolean => signal?.aborted === true || (!isQuick && elapsed() >= 2 * minutes)
  const samples: MemorySample[] = []
  const runs = killed.map(([name, open], index) => {
    const isDone = (world: Deployment, hasAllKinds: boolean): boolean => {
      died.set(name, world.kills)
      // In quick mode each deployment gets its share of kills.
      if (isQuick && !isOverdue()) return hasAllKinds && world.kills >= kills / killed.length
      return (allDied() >= kills && elapsed() >= minutes) || isOverdue()
    }
    return runWorld(name, open, seed + index, isQuick ? quickPace : fullPace, isDone)
  })
  if (!isQuick) {
    const isDone = (): boolean => (allDied() >= kills && elapsed() >= minutes) || isOverdue()
    runs.push(runWorld('steady', openSteadyDeployment, seed + killed.length, steadyPace, isDone, sampleMemory))
  }
  const ended = await Promise.allSettled(runs)
  const worlds = ended.map((run) => {
    if (run.status === 'rejected') throw run.reason
    return run.value
  })
  const memory = trendOf(samples)
  return { seed, minutes: elapsed(), deployments: worlds, ...(memory === undefined ? {} : { memory }) }

  async function sampleMemory({ hubs }: Deployment, { tasks }: Totals): Promise<void> {
    const heap = await hubs[0]?.heap()
    if (heap === undefined) return
    samples.push({ tasks, ...heap })
    log(`steady: ${tasks} tasks, heap ${megabytes(heap.heapBytes)}, resident ${megabytes(heap.rssBytes)}`)
  }

  async function runWorld(
    name: string,
    open: (name: string, setting: TortureEnvironment) => Promise<Deployment>,
    ownSeed: number,
    pace: Pace,
    isDone: (world: Deployment, hasAllKinds: boolean) => boolean,
    afterRound: (world: Deployment, totals: Totals) => Promise<void> = async () => {},
  ): Promise<Totals> {
    const setting = await openTortureEnvironment(name, createRandom(ownSeed + 1_000))
    try {
      return await runRounds(await open(name, setting), setting, ownSeed, pace, isDone, afterRound)
    } finally {
      await setting.close()
    }
  }

  async function runRounds(
    world: Deployment,
    setting: TortureEnvironment,
    ownSeed: number,
    pace: Pace,
    isDone: (world: Deployment, hasAllKinds: boolean) => boolean,
    afterRound: (world: Deployment, totals: Totals) => Promise<void>,
  ): Promise<Totals> {
    const { name } = world
    const { totals, round, finish, hasAllKinds } = createTortureRounds(world, setting, {
      ...pace,
      random: createRandom(ownSeed),
      historyFile: (n) => join(histories, `${name}-${n}.json`),
      durableAgents: ['script'],
    })
    try {
      do {
        await round(() => !isDone(world, hasAllKinds()))
        await afterRound(world, totals)
        log(
          `${elapsed().toFixed(1)} min  ${name}: round ${totals.rounds}, ${totals.kills} kills, ${totals.tasks} tasks, ` +
            `${totals.eventsReceived} events, ${totals.violations.length} violations`,
        )
      } while (!isDone(world, hasAllKinds()))
      await finish()
      totals.violations.push(...(await findDamage(world)))
    } catch (reason) {
      // The other deployments continue.
      totals.violations.push(`the run of ${name} ended early: ${describeError(reason)}`)
    } finally {
      await world.close()
    }
    return totals
  }
}

/** What `parley verify` finds in the store after all faults. */
async function findDamage(world: Deployment): Promise<readonly string[]> {
  const reader = await world.reader()
  try {
    const { findings } = await verifyStore(reader)
    return findings.map((finding) => `verify: ${JSON.stringify(finding)}`)
  } finally {
    await reader.close()
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
