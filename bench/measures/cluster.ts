/**
 * Our server on PostgreSQL: one replica and two beside one on SQLite, how long an event takes to a reader on another
 * replica, and the cost of ten thousand idle readers. No other SDK is measured: `@a2a-js/sdk` keeps its tasks in
 * the memory of one process.
 */
import { type Replica, startReplica } from '../contestants/replicas.ts'
import { type ResponseCheck, openLoad } from '../load/open-load.ts'
import { chunkCheck, eventReader } from '../load/events.ts'
import { type Measure, median } from '../report.ts'
import { question, requestText, sendMessageBody } from '../workload.ts'
import { measureIdle } from './cluster-idle.ts'
import { measureLatency } from './cluster-latency.ts'
import type { MeasureGroup, Plan } from './plan.ts'
import { type BenchDatabase, findDatabase } from './postgres.ts'

const connections = 32
const streamChunks = 20
/** Submitted, working, the chunks, the end of the answer, completed. */
const eventsPerStream = streamChunks + 4

const checkTaskAnswer = (): ResponseCheck => {
  let body = ''
  return {
    piece: (text) => (body += text),
    end(status) {
      if (status !== 200 || !body.includes('TASK_STATE_COMPLETED')) throw new Error(`${status} ${body}`)
      body = ''
    },
  }
}
const checkStreamAnswer = (): ResponseCheck => {
  const check = chunkCheck()
  return { piece: eventReader(check.event), end: () => check.finish(streamChunks) }
}

const workloads = {
  task: { judge: checkTaskAnswer, request: (port: number) => requestText(port, 'task', sendMessageBody(question)) },
  stream: {
    judge: checkStreamAnswer,
    request: (port: number) => requestText(port, 'stream', sendMessageBody(String(streamChunks), { streaming: true })),
  },
} as const

interface Rate {
  readonly perSecond: number
  /** The CPU time of the replicas for one. */
  readonly cpuMicros: number
  /** The CPU time of the database for one. */
  readonly databaseCpuMicros: number | undefined
}

/** All of the connections, distributed among the replicas. */
async function rateOf(
  replicas: readonly Replica[],
  database: BenchDatabase,
  work: keyof typeof workloads,
  plan: Plan,
): Promise<Rate> {
  const { judge, request } = workloads[work]
  const loads = await Promise.all(
    replicas.map(({ port }) =>
      openLoad({
        port,
        connections: connections / replicas.length,
        nextRequest: () => request(port),
        createCheck: judge,
      }),
    ),
  )
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
  const cpu = async (): Promise<number> =>
    sum((await Promise.all(replicas.map((replica) => replica.usage()))).map(({ cpuMicros }) => cpuMicros))
  const rounds: { readonly perSecond: number; readonly cpuMicros: number }[] = []
  let completed = 0
  for (let index = 0; index < plan.warmUpRounds; index++) {
    await Promise.all(loads.map((load) => load.run(plan.roundMs)))
  }
  const databaseBefore = database.cpuMicros()
  for (let index = 0; index < plan.rounds; index++) {
    const before = await cpu()
    const parts = await Promise.all(loads.map((load) => load.run(plan.roundMs)))
    const inRound = sum(parts.map((part) => part.completed))
    completed += inRound
    const cpuMicros = ((await cpu()) - before) / inRound
    rounds.push({ perSecond: sum(parts.map(({ perSecond }) => perSecond)), cpuMicros })
  }
  const databaseAfter = database.cpuMicros()
  for (const load of loads) load.close()
  return {
    databaseCpuMicros:
      databaseBefore === undefined || databaseAfter === undefined
        ? undefined
        : (databaseAfter - databaseBefore) / completed,
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    cpuMicros: median(rounds.map(({ cpuMicros }) => cpuMicros)),
  }
}

async function measureRates(database: BenchDatabase, plan: Plan): Promise<readonly Measure[]> {
  const measures: Measure[] = []
  const places = [
    { name: 'sqlite', what: 'SQLite', urls: [undefined] },
    { name: 'postgres', what: 'Postgres, 1 replica', urls: [database.url] },
    { name: 'replicas', what: 'Postgres, 2 replicas', urls: [database.url, database.url] },
  ]
  for (const { name, what, urls } of places) {
    const replicas = await Promise.all(urls.map((url) => startReplica(url)))
    const tasks = await rateOf(replicas, database, 'task', plan)
    const streams = await rateOf(replicas, database, 'stream', plan)
    await Promise.all(replicas.map((replica) => replica.close()))
    const events = streams.perSecond * eventsPerStream
    plan.tell(`${what}: ${Math.round(tasks.perSecond)} tasks/s, ${Math.round(events)} events/s`)
    const add = (suffix: string, of: string, unit: string, better: Measure['better'], parley: number): void =>
      void measures.push({ name: `${name}${suffix}`, what: `${of}, ${what}`, unit, better, values: { parley } })
    add('Task', 'SendMessage to Task', 'per second', 'more', tasks.perSecond)
    add('TaskCpu', 'SendMessage to Task', 'CPU µs each', 'less', tasks.cpuMicros)
    add('Events', 'Events of streams', 'per second', 'more', events)
    add('EventsCpu', 'Events of streams', 'CPU µs each', 'less', streams.cpuMicros / eventsPerStream)
    if (name === 'sqlite') continue
    for (const [suffix, of, { databaseCpuMicros }] of [
      ['Task', 'SendMessage to Task', tasks],
      ['Stream', `Stream of ${streamChunks} chunks`, streams],
    ] as const) {
      if (databaseCpuMicros === undefined) continue
      add(`${suffix}DatabaseCpu`, `${of}, the database's share`, 'CPU µs each', 'less', databaseCpuMicros)
    }
  }
  return measures
}

async function measureCluster(plan: Plan): Promise<readonly Measure[]> {
  const database = await findDatabase()
  if ('missing' in database) {
    plan.tell(`cluster: not measured. ${database.missing}`)
    return []
  }
  return [
    ...(await measureRates(database, plan)),
    ...(await measureLatency(database, plan)),
    ...(await measureIdle(database, plan)),
  ]
}

export const clusterGroup: MeasureGroup = { names: ['cluster'], measure: measureCluster }
