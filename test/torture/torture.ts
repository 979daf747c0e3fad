/** Worlds side by side, each with its own chance: a run with the same seed has the same schedule in each of them. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../crash/random.ts'
import { createTorture } from './rounds.ts'
import type { Totals } from './rounds.ts'
import { openPostgresWorld } from './postgres-world.ts'
import { openSetting } from './setting.ts'
import { openSqliteWorld } from './sqlite-world.ts'

export interface TortureOptions {
  readonly minutes: number
  /** Of all worlds together. */
  readonly kills: number
  readonly seed: number
  readonly store: 'sqlite' | 'postgres' | 'both'
  /** A fixed number of faults instead of a time. */
  readonly isQuick: boolean
}

export interface TortureResult {
  readonly seed: number
  readonly minutes: number
  readonly worlds: readonly Totals[]
}

export async function runTorture(options: TortureOptions): Promise<TortureResult> {
  const { seed, store, minutes, kills, isQuick } = options
  const startedAt = performance.now()
  const elapsed = (): number => (performance.now() - startedAt) / 60_000
  const histories = mkdtempSync(join(tmpdir(), 'parley-torture-history-'))
  const names = store === 'both' ? (['sqlite', 'postgres'] as const) : ([store] as const)
  const share = kills / names.length
  const worlds = await Promise.all(
    names.map(async (name, index) => {
      const random = createRandom(seed + index)
      const setting = await openSetting(name, createRandom(seed + 100 + index))
      const world = await (name === 'sqlite' ? openSqliteWorld : openPostgresWorld)(name, setting)
      const torture = createTorture(world, setting, {
        random,
        clientsAtOnce: isQuick ? 8 : 12,
        faultsPerRound: isQuick ? 12 : 30,
        maxPauseMs: isQuick ? 800 : 1_500,
        heavyEvery: isQuick ? 2 : 6,
        historyFile: (round) => join(histories, `${name}-${round}.json`),
        durableAgents: [],
      })
      const isDone = (): boolean => world.kills >= share && (isQuick || elapsed() >= minutes)
      try {
        do {
          await torture.round(() => !isDone())
          const { totals } = torture
          console.log(
            `${elapsed().toFixed(1)} min  ${name}: round ${totals.rounds}, ${world.kills} kills, ${totals.tasks} tasks, ` +
              `${totals.eventsTold} events, ${totals.violations.length} violations`,
          )
        } while (!isDone())
        await torture.finish()
      } finally {
        await world.close()
        await setting.close()
      }
      return torture.totals
    }),
  )
  return { seed, minutes: elapsed(), worlds }
}
