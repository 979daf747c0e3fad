/**
 * Ten thousand readers of a thousand tasks that run on another replica and report nothing: how many connections and statements
 * the database sees because of them, beside the same tasks without readers.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startReplica } from '../contestants/replicas.ts'
import { ask, type Connection, openConnection } from '../load/connection.ts'
import { eventReader } from '../load/events.ts'
import type { Measure } from '../report.ts'
import { postText, question, sendMessageBody, subscribeBody } from '../workload.ts'
import type { Plan } from './plan.ts'
import type { BenchDatabase } from './postgres.ts'

const openedAtOnce = 50

async function startTask(port: number): Promise<string> {
  const body = sendMessageBody(question, { returnImmediately: true })
  const answer = await ask(port, postText(port, '/a2a/waiter', body))
  return (JSON.parse(answer) as { result: { task: { id: string } } }).result.task.id
}

/** Resolves when the first event, the snapshot, has arrived. */
async function subscribe(port: number, taskId: string): Promise<Connection> {
  const first = Promise.withResolvers<void>()
  const listener = {
    piece: eventReader(() => first.resolve()),
    end: (status: number) => first.reject(new Error(`a subscription ended: ${status}`)),
  }
  const connection = await openConnection(port, listener, first.reject)
  connection.send(postText(port, '/a2a/waiter', subscribeBody(taskId)))
  await first.promise
  return connection
}

async function inGroups<T>(count: number, make: (index: number) => Promise<T>): Promise<readonly T[]> {
  const made: T[] = []
  while (made.length < count) {
    const from = made.length
    const size = Math.min(openedAtOnce, count - from)
    made.push(...(await Promise.all(Array.from({ length: size }, (_, index) => make(from + index)))))
  }
  return made
}

interface IdleCost {
  readonly connections: number
  readonly statementsPerSecond: number
}

/** The load of the database while nothing happens. Its counters are up to a second late. */
async function measureIdleCost(database: BenchDatabase, ms: number): Promise<IdleCost> {
  await sleep(1_500)
  const before = await database.load()
  const startedAt = performance.now()
  await sleep(ms)
  const { connections, statements } = await database.load()
  const seconds = (performance.now() - startedAt) / 1_000
  return { connections, statementsPerSecond: (statements - before.statements) / seconds }
}

export async function measureIdle(database: BenchDatabase, plan: Plan): Promise<readonly Measure[]> {
  const { tasks, readers, ms: quietMs } = plan.idle
  const [here, there] = await Promise.all([startReplica(database.url), startReplica(database.url)])
  const ids = await inGroups(tasks, () => startTask(here.port))
  const without = await measureIdleCost(database, quietMs)
  const before = await there.usage(true)
  const open = await inGroups(readers, (index) => subscribe(there.port, ids[index % ids.length] as string))
  const opened = await there.usage(true)
  const beside = await measureIdleCost(database, quietMs)
  const cpuMicros = (await there.usage()).cpuMicros - opened.cpuMicros
  for (const connection of open) connection.close()
  await Promise.all([here.close(), there.close()])
  plan.tell(
    `${readers} idle readers of ${tasks} tasks: ${beside.connections} connections to the database (${without.connections} without), ` +
      `${beside.statementsPerSecond.toFixed(1)} statements a second (${without.statementsPerSecond.toFixed(1)} without)`,
  )
  const what = `${readers.toLocaleString('en')} idle readers of ${tasks.toLocaleString('en')} tasks`
  const less = (name: string, unit: string, parley: number): Measure => ({
    name,
    what,
    unit,
    better: 'less',
    values: { parley },
  })
  return [
    less('idleConnections', 'connections more', beside.connections - without.connections),
    less('idleStatements', 'statements/s more', beside.statementsPerSecond - without.statementsPerSecond),
    less('idleCpu', '% of a core', cpuMicros / 10 / (quietMs + 1_500)),
    less('idleRss', 'kB each', (opened.rss - before.rss) / 1_000 / readers),
  ]
}
