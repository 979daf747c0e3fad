/**
 * Large tasks: one caller asks for many of 12 MB at once, in each way and from each store, and reads the answers or does not.
 * Measures what others wait meanwhile, and how much memory the hub takes. A new hub for each case, on the same data.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { type HubProcess, longestTurnMs, quantile, resetPeakRss, rssOf, startHub } from './hub-process.ts'
import type { LargeCounts, LargeOrder, StoredTask, Way } from './large-client.ts'

export interface LargePlan {
  readonly stores: readonly LargeStore[]
  readonly ways: readonly Way[]
  readonly reads: readonly boolean[]
  /** Stored tasks, and the size of each. */
  readonly tasks: number
  readonly megabytes: number
  /** Requests at once. */
  readonly requests: number
  /** The longest time of one case. */
  readonly caseMs: number
  /** The hub of another checkout. */
  readonly checkout?: string | undefined
  /** A database of PostgreSQL, empty. */
  readonly postgresUrl?: string | undefined
  onFigures(figures: LargeFigures): void
}

export type LargeStore = 'sqlite' | 'postgres'

export interface LargeFigures {
  readonly store: LargeStore
  readonly way: Way | 'idle'
  readonly reads: boolean
  readonly answered: number
  readonly refused: number
  readonly seconds: number
  readonly health: Latency
  readonly message: Latency
  /** CPU time, which does not depend on what else the machine does. */
  readonly longestTurnMs: number
  /** Of the hub, from before the first request to its peak. */
  readonly grownBytes: number
  readonly lastError: string
}

export interface Latency {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

const loopName = 'loop.txt'
const adminKey = 'the admin key of the load test'
const masterKey = Buffer.alloc(32, 7).toString('base64')
/** Of the task that is replayed, as the echo of one message. */
const echoedCharacters = 8_000_000
const warmUpMs = 1_500

export async function runLargeTasks(plan: LargePlan): Promise<readonly LargeFigures[]> {
  const all: LargeFigures[] = []
  for (const store of plan.stores) {
    const folder = mkdtempSync(join(tmpdir(), 'parley-large-'))
    try {
      const seeded = await seed(folder, store, plan)
      const cases: (readonly [Way | 'idle', boolean])[] = [['idle', true]]
      for (const way of plan.ways) {
        const canRead = way === 'bodies' || way === 'output' ? [true] : plan.reads
        for (const reads of canRead) cases.push([way, reads])
      }
      for (const [way, reads] of cases) {
        const figures = await measure(folder, store, seeded, { way, reads }, plan)
        plan.onFigures(figures)
        all.push(figures)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return all
}

interface Seeded {
  readonly key: string
  readonly otherKey: string
  readonly large: readonly StoredTask[]
  readonly echoed: readonly StoredTask[]
}

interface OpenHub extends HubProcess {
  readonly grpcPort: number
}

async function open(folder: string, store: LargeStore, plan: LargePlan): Promise<OpenHub> {
  const grpcPort = await freePort()
  const url = store === 'sqlite' ? 'sqlite:' : plan.postgresUrl
  const printer = `const piece = 'x'.repeat(99) + '\\n'; process.stdout.write(piece.repeat(900_000))`
  const config = {
    listen: { port: 0, grpcPort },
    store: { url, masterKey },
    admin: { key: adminKey, console: false },
    access: {},
    agents: {
      big: { kind: 'module', path: join(import.meta.dirname, 'large-agent.ts'), default: true },
      echo: { kind: 'demo', agent: 'echo' },
      printer: { kind: 'command', command: [process.execPath, '-e', printer], outputLimit: '100MB' },
    },
  }
  writeFileSync(join(folder, 'parley.json'), JSON.stringify(config))
  const { checkout } = plan
  return { ...(await startHub(folder, { checkout, loopFile: join(folder, loopName) })), grpcPort }
}

/** Stores the tasks: each other one in one piece. */
async function seed(folder: string, store: LargeStore, plan: LargePlan): Promise<Seeded> {
  const hub = await open(folder, store, plan)
  try {
    const [key, otherKey] = await Promise.all([createKey(hub, 'large'), createKey(hub, 'other')])
    const large: StoredTask[] = []
    for (let index = 0; index < plan.tasks; index += 1) {
      large.push(await send(hub, 'big', `${index % 2 === 0 ? 'pieces' : 'whole'} ${plan.megabytes}`, key))
    }
    const echoed = [await send(hub, 'echo', 'x'.repeat(echoedCharacters), key)]
    return { key, otherKey, large, echoed }
  } finally {
    await hub.stop()
  }
}

async function measure(
  folder: string,
  store: LargeStore,
  { key, otherKey, large, echoed }: Seeded,
  { way, reads }: { readonly way: Way | 'idle'; readonly reads: boolean },
  plan: LargePlan,
): Promise<LargeFigures> {
  const hub = await open(folder, store, plan)
  const clients: ChildProcess[] = []
  const start = (order: Pick<LargeOrder, 'role' | 'key' | 'way' | 'tasks' | 'count'>): ChildProcess => {
    const { port, grpcPort } = hub
    const whole: LargeOrder = { ...order, port, grpcPort, adminKey, reads }
    const client = fork(join(import.meta.dirname, 'large-client.ts'), [JSON.stringify(whole)])
    clients.push(client)
    return client
  }
  try {
    const common = { way: way === 'idle' ? 'rest' : way, tasks: way === 'replay' ? echoed : large } as const
    // Warms up, and is thrown away: a hub loads some modules with the first request that needs them.
    const first = way === 'idle' ? undefined : start({ role: 'attack', key, ...common, count: 1 })
    const warm = start({ role: 'probe', key: otherKey, ...common, count: 0 })
    await delay(warmUpMs)
    warm.kill('SIGKILL')
    if (first !== undefined) {
      if (reads) await waitUntil(async () => (await ask(first)).isDone)
      first.kill('SIGKILL')
      await delay(warmUpMs)
    }
    const probe = start({ role: 'probe', key: otherKey, ...common, count: 0 })
    await waitUntil(async () => (await ask(probe)).answered > 20)
    const before = (await ask(probe)).healthMs.length
    const beforeMessages = (await ask(probe)).messageMs.length
    const baseline = rssOf(hub.pid).now
    resetPeakRss(hub.pid)
    const startedAt = performance.now()
    const since = Date.now() + 250
    const attack =
      way === 'idle' ? undefined : start({ role: 'attack', key, ...common, count: countOf(way, plan.requests) })
    let counts: LargeCounts | undefined
    while (performance.now() - startedAt < plan.caseMs) {
      await delay(200)
      counts = attack === undefined ? undefined : await ask(attack)
      if (counts?.isDone === true) break
    }
    const seconds = (performance.now() - startedAt) / 1_000
    const seen = await ask(probe)
    return {
      store,
      way,
      reads,
      answered: counts?.answered ?? 0,
      refused: counts?.refused ?? 0,
      seconds,
      health: latencyOf(seen.healthMs.slice(before)),
      message: latencyOf(seen.messageMs.slice(beforeMessages)),
      longestTurnMs: longestTurnMs(join(folder, loopName), since),
      grownBytes: rssOf(hub.pid).peak - baseline,
      lastError: counts?.lastError || seen.lastError,
    }
  } finally {
    for (const client of clients) client.kill('SIGKILL')
    await hub.stop()
  }
}

/** What the issue of each way was. */
function countOf(way: Way, requests: number): number {
  if (way === 'bodies') return 4
  if (way === 'output') return 1
  return way === 'replay' ? Math.ceil(requests / 2) : requests
}

function latencyOf(values: readonly number[]): Latency {
  return { p50Ms: quantile(values, 0.5), p99Ms: quantile(values, 0.99), maxMs: quantile(values, 1) }
}

async function createKey(hub: OpenHub, name: string): Promise<string> {
  const { key } = (await call(hub, '/admin/keys', { name, scopes: ['agent:*'] }, adminKey)) as { key: string }
  return key
}

async function send(hub: OpenHub, agent: string, text: string, key: string): Promise<StoredTask> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  const { task } = (await call(hub, `/a2a/${agent}/message:send`, { message }, key)) as { task: StoredTask }
  return { id: task.id, contextId: task.contextId }
}

async function call(hub: OpenHub, path: string, body: unknown, key: string): Promise<unknown> {
  const response = await fetch(`${hub.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`HTTP ${response.status} from ${path}: ${text.slice(0, 500)}`)
  return JSON.parse(text)
}

function ask(client: ChildProcess): Promise<LargeCounts> {
  if (client.exitCode !== null) throw new Error('a client has ended')
  client.send('counts')
  return once(client, 'message').then(([counts]) => counts as LargeCounts)
}

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(100)
}
