/** One hub process under all loads at once, and its measurements. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { megabytes, quantile, rssOf, startHub } from './hub-process.ts'
import type { ClientCounts, ClientOrder, ClientRole } from './load-client.ts'

export interface LoadPlan {
  readonly streams: number
  readonly slowloris: number
  readonly silent: number
  readonly tasksPerSecond: number
  /** Of the task that silent readers ask for. */
  readonly bigMegabytes: number
  /** How long all of it is held after everything is open. */
  readonly holdMs: number
  /** Writes a CPU profile of the hub into this folder. Default: none. */
  readonly profileFolder?: string
  tell?(line: string): void
}

export interface LoadFigures {
  readonly streamsOpen: number
  readonly slowlorisOpen: number
  readonly silentOpen: number
  readonly tasksDone: number
  readonly tasksPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly probes: number
  readonly rssBytes: number
  readonly peakRssBytes: number
  /** Of the hub's main thread, while all of it was held. */
  readonly thread: ThreadTimes
  readonly metrics: Readonly<Record<string, number>>
  readonly cuts: Readonly<Record<ClientRole, number>>
  readonly errors: Readonly<Record<ClientRole, number>>
  readonly lastErrors: readonly string[]
}

/** Time spent waiting for a core that other processes used: most of the latency on a busy machine. */
export interface ThreadTimes {
  readonly runningMs: number
  readonly waitingMs: number
  readonly heldMs: number
}

/** The hub closes those that do not finish a head within 65 seconds; at least this share is open at any time. */
const slowlorisShare = 0.5
const roles: readonly ClientRole[] = ['streams', 'slowloris', 'silent', 'tasks', 'probe']

export async function runLoad(plan: LoadPlan): Promise<LoadFigures> {
  const { tell = () => {} } = plan
  const folder = mkdtempSync(join(tmpdir(), 'parley-load-'))
  writeFileSync(join(folder, 'parley.json'), JSON.stringify(configOf(plan)))
  const hub = await startHub(folder, { profileFolder: plan.profileFolder })
  const clients = new Map<ClientRole, ChildProcess>()
  try {
    const waiting = await openTasks(hub.url, 'wait', Math.min(100, plan.streams))
    const big = await openTasks(hub.url, `big ${plan.bigMegabytes}`, 1)
    const counts: Readonly<Record<ClientRole, number>> = {
      streams: plan.streams,
      slowloris: plan.slowloris,
      silent: plan.silent,
      tasks: plan.tasksPerSecond,
      probe: 20,
    }
    const start = (role: ClientRole): void => {
      const order: ClientOrder = {
        role,
        port: hub.port,
        count: counts[role],
        taskIds: role === 'silent' ? big : waiting,
      }
      clients.set(role, fork(join(import.meta.dirname, 'load-client.ts'), [JSON.stringify(order)]))
    }
    for (const role of ['streams', 'slowloris', 'silent'] as const) start(role)
    await waitUntil(async () => {
      const [streams, slow, silent] = await Promise.all(
        (['streams', 'slowloris', 'silent'] as const).map((role) => ask(clients, role)),
      )
      tell(
        `open: ${streams!.answered} streams, ${slow!.open} slowloris, ${silent!.open} silent; RSS ${megabytes(rssOf(hub.pid).now)}`,
      )
      return (
        streams!.answered >= plan.streams &&
        slow!.open >= plan.slowloris * slowlorisShare &&
        silent!.answered >= plan.silent
      )
    })
    for (const role of ['tasks', 'probe'] as const) start(role)
    await delay(2_000)
    const before = await ask(clients, 'tasks')
    const startedAt = performance.now()
    const timesBefore = threadTimesOf(hub.pid)
    for (let held = 0; held < plan.holdMs; held += 5_000) {
      await delay(Math.min(5_000, plan.holdMs - held))
      const [tasks, probe] = [await ask(clients, 'tasks'), await ask(clients, 'probe')]
      tell(
        `${tasks.answered} tasks done, p99 ${quantile(probe.latenciesMs, 0.99).toFixed(0)} ms, RSS ${megabytes(rssOf(hub.pid).now)}`,
      )
    }
    const heldMs = performance.now() - startedAt
    const seconds = heldMs / 1_000
    const times = threadTimesOf(hub.pid)
    const all = Object.fromEntries(
      await Promise.all(roles.map(async (role) => [role, await ask(clients, role)] as const)),
    ) as Record<ClientRole, ClientCounts>
    const metrics = await metricsOf(hub.url)
    const { now: rssBytes, peak: peakRssBytes } = rssOf(hub.pid)
    const done = all.tasks.answered - before.answered
    const { latenciesMs } = all.probe
    return {
      streamsOpen: all.streams.open,
      slowlorisOpen: all.slowloris.open,
      silentOpen: all.silent.open,
      tasksDone: done,
      tasksPerSecond: done / seconds,
      p50Ms: quantile(latenciesMs, 0.5),
      p99Ms: quantile(latenciesMs, 0.99),
      maxMs: quantile(latenciesMs, 1),
      probes: latenciesMs.length,
      rssBytes,
      peakRssBytes,
      thread: {
        runningMs: times.runningMs - timesBefore.runningMs,
        waitingMs: times.waitingMs - timesBefore.waitingMs,
        heldMs,
      },
      metrics,
      cuts: countsOf(all, 'cuts'),
      errors: countsOf(all, 'errors'),
      lastErrors: Object.values(all)
        .map(({ lastError }) => lastError)
        .filter((text) => text !== ''),
    }
  } finally {
    for (const client of clients.values()) client.kill('SIGKILL')
    await hub.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One address and no credentials: the limits allow one caller with ten thousand connections. */
function configOf({ streams, silent }: LoadPlan): object {
  return {
    listen: { port: 0, grpcPort: false },
    limits: { perAddress: '100000000/min', streamsPerCaller: (streams + silent) * 2, tasksPerCaller: 1_000_000 },
    agents: {
      echo: { kind: 'demo', agent: 'echo', default: true },
      worker: { kind: 'demo', agent: 'echo' },
      waiting: { kind: 'module', path: join(import.meta.dirname, 'waiting-agent.ts'), timeout: '2h' },
    },
  }
}

async function openTasks(url: string, text: string, count: number): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
      const response = await fetch(`${url}/a2a/waiting/message:send`, {
        method: 'POST',
        headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0' },
        body: JSON.stringify({ message, configuration: { returnImmediately: true } }),
      })
      const answer = (await response.json()) as { task?: { id: string } }
      if (answer.task === undefined) throw new Error(`no task: ${JSON.stringify(answer)}`)
      return answer.task.id
    }),
  )
}

function ask(clients: ReadonlyMap<ClientRole, ChildProcess>, role: ClientRole): Promise<ClientCounts> {
  const client = clients.get(role)
  if (client === undefined || client.exitCode !== null) throw new Error(`the clients for ${role} have ended`)
  client.send('counts')
  return once(client, 'message').then(([counts]) => counts as ClientCounts)
}

async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(1_000)
}

function countsOf(
  all: Readonly<Record<ClientRole, ClientCounts>>,
  what: 'cuts' | 'errors',
): Record<ClientRole, number> {
  return Object.fromEntries(roles.map((role) => [role, all[role][what]])) as Record<ClientRole, number>
}

/** Of the main thread, from Linux itself; 0 elsewhere. */
function threadTimesOf(pid: number): Omit<ThreadTimes, 'heldMs'> {
  try {
    const [running = 0, waiting = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number)
    return { runningMs: running / 1e6, waitingMs: waiting / 1e6 }
  } catch {
    return { runningMs: 0, waitingMs: 0 }
  }
}

/** The metrics of the hub: streams, event loop, heap, unsent bytes. */
async function metricsOf(url: string): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const wanted =
    /^((?:nodejs|process|parley)_[\w]*(?:eventloop|event_loop|heap|resident|streams|unsent|stall|cut)[\w]*(?:\{[^}]*\})?) ([\d.e+-]+)$/gim
  return Object.fromEntries([...text.matchAll(wanted)].map(([, name = '', value]) => [name, Number(value)]))
}
