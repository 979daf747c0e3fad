/**
 * Faults of every part of a running recipe, under load. The history checker judges what the clients recorded: nothing that was
 * acknowledged is lost, doubled or out of order, no task is stuck, and what a dead hub ran is taken over.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { eventually } from '../project-imports.ts'
import { checkClusterHistory } from '../../cluster/check-history.ts'
import type { Outage } from '../../cluster/check-history.ts'
import { createLoad } from '../../cluster/load.ts'
import type { Load } from '../../cluster/load.ts'
import { readLogs } from '../../cluster/logs.ts'
import type { RunningRecipe } from './running-recipe.ts'

export type ChaosFault =
  | 'kill a hub'
  | 'kill HAProxy'
  | 'crash the primary'
  | 'lose the primary'
  | 'lose the disk of the primary'
  | 'switch over'
  | 'kill the standby'
  | 'pause a hub'
  | 'kill two hubs'
  | 'kill the script'

/** Every part once: what the quick mode does. */
export const quickFaults: readonly ChaosFault[] = [
  'kill a hub',
  'kill HAProxy',
  'crash the primary',
  'lose the primary',
]
export const allFaults: readonly ChaosFault[] = [
  ...quickFaults,
  'lose the disk of the primary',
  'switch over',
  'kill the standby',
  'pause a hub',
  'kill two hubs',
  'kill the script',
]

export interface ChaosOptions {
  readonly recipe: RunningRecipe
  /** The faults in turn; it ends when this returns `undefined`. */
  nextFault(): ChaosFault | undefined
  random(): number
  log(line: string): void
}

export interface ChaosResult {
  readonly violations: readonly string[]
  readonly faults: number
  readonly tasks: number
  readonly events: number
  readonly retries: number
  /** Turns that another hub, or the same one after its restart, continued. */
  readonly runAgain: number
  /** Per failover: from the loss of the primary until a hub was ready. */
  readonly failoverMs: readonly number[]
  /** How often a former primary had to be copied instead of rewound. */
  readonly rebuilt: number
}

const atOnce = 8
/** The lease of a hub, its sweep, and extra time for a busy machine. */
const takeOverBoundMs = 10_000 + 1_000 + 60_000
/** A last guard. */
const guardMs = 180_000

export async function runChaos({ recipe, nextFault, random, log }: ChaosOptions): Promise<ChaosResult> {
  const giveUp = new AbortController()
  const load = createLoad({
    url: recipe.url,
    count: [40, 20],
    idleTimeoutMs: 10_000,
    fragile: true,
    giveUp: giveUp.signal,
  })
  const loading = load.keepUp(atOnce)
  const outages: Outage[] = []
  const failoverMs: number[] = []
  const begunAt = Date.now()
  const placed: Promise<void>[] = []
  let faults = 0
  let rebuilt = 0
  try {
    await injectAll()
  } catch (error) {
    log(recipe.logTails())
    giveUp.abort()
    await Promise.allSettled([loading.stop(), ...placed])
    throw error
  }
  await loading.stop()
  await Promise.all(placed)
  return judge()

  async function injectAll(): Promise<void> {
    await moreTasks(load)
    for (let fault = nextFault(); fault !== undefined; fault = nextFault()) {
      const startedAt = Date.now()
      await inject(fault)
      await allWell(recipe)
      await moreTasks(load)
      faults += 1
      log(`${fault}: ${Date.now() - startedAt} ms until everything runs again; ${load.done} tasks so far`)
    }
  }

  async function judge(): Promise<ChaosResult> {
    const logs = (await readAllLogs(recipe)).filter(({ records }) => (records[0]?.at ?? 0) >= begunAt)
    const again = logs.flatMap(({ records }) =>
      records.filter(({ body }) => body.type === 'turn-started' && body.attempt > 1),
    )
    const violations = [...checkClusterHistory({ streams: load.streams, sent: load.sent, logs, outages })]
    const acknowledged = new Set(load.sent.flatMap(({ taskId }) => taskId ?? []))
    const unknown = logs.filter(({ taskId }) => !acknowledged.has(taskId))
    if (unknown.length > 0) violations.push(`${unknown.length} tasks that no client asked for`)
    return {
      violations,
      faults,
      tasks: logs.length,
      events: load.streams.reduce((sum, { events }) => sum + events.length, 0),
      retries: load.retries.length,
      runAgain: again.length,
      failoverMs,
      rebuilt,
    }
  }

  async function inject(fault: ChaosFault): Promise<void> {
    const hubs = ['hub1', 'hub2', 'hub3']
    const victim = hubs[Math.floor(random() * hubs.length)] as string
    const { primary } = (await recipe.status()).database
    switch (fault) {
      case 'kill a hub':
        return killHub(victim)
      case 'kill two hubs':
        await killHub(victim)
        return killHub(hubs.find((name) => name !== victim) as string)
      case 'pause a hub':
        return pauseHub(victim)
      case 'kill HAProxy':
        return recipe.kill('haproxy')
      case 'kill the standby':
        return recipe.kill(primary === 'pg1' ? 'pg2' : 'pg1')
      case 'crash the primary':
        return recipe.kill(primary)
      case 'lose the primary':
        return failOver(() => recipe.kill(primary))
      case 'lose the disk of the primary':
        return failOver(async () => {
          await recipe.kill(primary)
          rmSync(join(recipe.data, 'postgres', primary), { recursive: true, maxRetries: 10 })
        })
      case 'switch over':
        return failOver(async () => {})
      case 'kill the script':
        await recipe.killScript()
        return recipe.start()
    }
  }

  async function killHub(name: string): Promise<void> {
    await placeOn(name)
    await recipe.kill(name)
    outages.push({ replica: name, at: Date.now(), boundMs: takeOverBoundMs })
  }

  /** It accepts connections and does not answer, until after its leases have expired. */
  async function pauseHub(name: string): Promise<void> {
    await placeOn(name)
    const pid = await recipe.pidOf(name)
    process.kill(pid, 'SIGSTOP')
    outages.push({ replica: name, at: Date.now(), boundMs: takeOverBoundMs })
    await sleep(12_000)
    process.kill(pid, 'SIGCONT')
  }

  /** Ensures that the hub runs a turn that outlasts the fault. */
  async function placeOn(name: string): Promise<void> {
    const hub = (await recipe.status()).hubs[Number(name.slice(3)) - 1]
    placed.push((await load.place(hub?.url ?? '', '250 20')).ended)
  }

  async function failOver(lose: () => Promise<void>): Promise<void> {
    const lostAt = Date.now()
    await lose()
    log(await recipe.command('failover'))
    await eventually(() => isReady(recipe.url), 'the hubs to find the new primary', guardMs)
    failoverMs.push(Date.now() - lostAt)
    // Clients work on one disk meanwhile.
    await moreTasks(load)
    const answer = await recipe.command('rejoin')
    if (answer.includes('rebuilt')) rebuilt += 1
    log(answer)
  }
}

async function moreTasks(load: Load): Promise<void> {
  const goal = load.done + atOnce
  await eventually(() => load.done >= goal, `${atOnce} more tasks to end`, guardMs)
}

/** Every process runs, every hub is ready, and the standby follows. */
async function allWell(recipe: RunningRecipe): Promise<void> {
  await eventually(
    async () => {
      const { url, hubs, database, processes } = await recipe.status()
      const ready = await Promise.all([url, ...hubs.map((hub) => hub.url)].map(isReady))
      return database.isSynchronous && processes.every(({ pid }) => pid !== undefined) && ready.every(Boolean)
    },
    'everything to run again',
    guardMs,
  )
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** Through the address that the hubs use. */
async function readAllLogs(recipe: RunningRecipe) {
  const { routePort } = (await recipe.status()).database
  const { hubPassword, masterKey } = recipe.secrets
  const pool = new pg.Pool({
    host: '127.0.0.1',
    port: routePort,
    user: 'parley',
    password: hubPassword,
    database: 'parley',
  })
  const store = postgresStore({ pool, masterKey, endPool: true })
  try {
    return await readLogs({ query: async <Row>(sql: string) => (await pool.query(sql)).rows as Row[] }, store)
  } finally {
    await store.close()
  }
}
