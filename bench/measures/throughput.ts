/** Requests and short streams: how many a second on 32 connections, and how much CPU the server spends on each. */
import { type Contestant, type ContestantData, startContestant } from '../contestants/contestant.ts'
import { ask } from '../load/connection.ts'
import { type ResponseCheck, openLoad } from '../load/open-load.ts'
import { createBodyCheck } from '../load/body-check.ts'
import { chunkCheck, eventReader } from '../load/events.ts'
import { type Measure, median } from '../report.ts'
import type { ContestantName } from '../contestants/lineup.ts'
import { type AgentName, getTaskBody, question, requestText, sendMessageBody } from '../workload.ts'
import type { MeasuredWork } from './participation.ts'
import type { MeasureGroup, Plan } from './plan.ts'
import { storedTaskId, storedTasks } from './stored-tasks.ts'

const usualConnections = 32
/** What pollers request: tasks of about the last minute. */
const recentTasks = 200
/** More than a server that keeps its tasks on disk holds in memory. */
const manyTasks = 4_000
const streamChunks = 20

interface ThroughputCase {
  readonly name: MeasuredWork
  readonly what: string
  /** Default 32. */
  readonly connections?: number
  /** Data that exist before the server starts. */
  data?(name: ContestantName, plan: Plan): Promise<ContestantData>
  /** May prepare what the requests need. */
  prepare(port: number, plan: Plan): Promise<() => string>
  judge(): ResponseCheck
}

function createStreamCheck(): ResponseCheck {
  const check = chunkCheck()
  return { piece: eventReader(check.event), end: () => check.finish(streamChunks) }
}

async function idsOfNewTasks(port: number, count: number): Promise<readonly string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const answers = await Promise.all(
      Array.from({ length: usualConnections }, () => ask(port, requestText(port, 'task', sendMessageBody(question)))),
    )
    ids.push(...answers.map((answer) => (JSON.parse(answer) as { result: { task: { id: string } } }).result.task.id))
  }
  return ids
}

const sending = (agent: AgentName) => async (port: number) => () => requestText(port, agent, sendMessageBody(question))

/** Each in turn, repeatedly. */
const getting = (count: number) => async (port: number) => {
  const requests = (await idsOfNewTasks(port, count)).map((id) => requestText(port, 'task', getTaskBody(id)))
  let next = 0
  return () => requests[next++ % requests.length] ?? ''
}

/** Stored tasks, each read once before any is read again: more than a server holds in memory. */
const gettingStored = async (port: number, { coldTasks }: Plan) => {
  let next = 0
  return () => requestText(port, 'task', getTaskBody(storedTaskId(next++ % coldTasks)))
}

const checkTaskAnswer = createBodyCheck('"result"', 'TASK_STATE_COMPLETED', 'Thursday')

const cases: readonly ThroughputCase[] = [
  {
    name: 'message',
    what: 'SendMessage to Message',
    prepare: sending('message'),
    judge: createBodyCheck('"result"', '"message"', 'Thursday'),
  },
  {
    name: 'task',
    what: 'SendMessage to Task',
    prepare: sending('task'),
    judge: createBodyCheck('"result"', '"task"', 'TASK_STATE_COMPLETED', 'Thursday'),
  },
  { name: 'get', what: 'GetTask, 200 tasks', prepare: getting(recentTasks), judge: checkTaskAnswer },
  { name: 'getMany', what: 'GetTask, 4,000 tasks', prepare: getting(manyTasks), judge: checkTaskAnswer },
  {
    name: 'getCold',
    what: 'GetTask, not in memory',
    data: (name, plan) => storedTasks(name, plan.coldTasks, plan),
    prepare: gettingStored,
    judge: checkTaskAnswer,
  },
  ...[usualConnections, 1, 256].map((connections): ThroughputCase => ({
    name: connections === usualConnections ? 'stream20' : connections === 1 ? 'stream20x1' : 'stream20x256',
    what: `Stream of 20 chunks, ${connections} connection${connections === 1 ? '' : 's'}`,
    connections,
    prepare: async (port) => () =>
      requestText(port, 'stream', sendMessageBody(String(streamChunks), { streaming: true })),
    judge: createStreamCheck,
  })),
]

interface Runner {
  readonly contestant: Contestant
  run(durationMs: number): Promise<void>
  close(): Promise<void>
  readonly rates: number[]
  readonly cpuMicros: number[]
  readonly loadShares: number[]
}

async function prepareRunner(each: ThroughputCase, name: ContestantName, plan: Plan): Promise<Runner> {
  const data = await each.data?.(name, plan)
  const contestant = await startContestant(name, plan, data && { data })
  const { port } = contestant
  const { connections = usualConnections, judge: createCheck } = each
  const nextRequest = await each.prepare(port, plan)
  const results = { rates: [] as number[], cpuMicros: [] as number[], loadShares: [] as number[] }
  async function run(durationMs: number): Promise<void> {
    // New connections for each round: servers close one that the other contestants' rounds leave idle.
    const load = await openLoad({ port, connections, nextRequest, createCheck })
    const before = await contestant.usage()
    const round = await load.run(durationMs)
    const after = await contestant.usage()
    load.close()
    results.rates.push(round.perSecond)
    results.cpuMicros.push((after.cpuMicros - before.cpuMicros) / round.completed)
    results.loadShares.push(round.loadShare)
  }
  async function close(): Promise<void> {
    await contestant.close()
    await data?.remove()
  }
  return { contestant, run, close, ...results }
}

/** Forgets the rounds that warmed the process up. */
function forget({ rates, cpuMicros, loadShares }: Runner): void {
  for (const results of [rates, cpuMicros, loadShares]) results.length = 0
}

type Pick = (runner: Runner) => readonly number[]

/** The median of each process of a contestant. */
function allOf(runners: readonly Runner[], name: ContestantName, pick: Pick): readonly number[] {
  return runners.filter(({ contestant }) => contestant.name === name).map((runner) => median(pick(runner)))
}

function medians(runners: readonly Runner[], pick: Pick): Measure['values'] {
  const names = new Set(runners.map(({ contestant }) => contestant.name))
  return Object.fromEntries([...names].map((name) => [name, median(allOf(runners, name, pick))]))
}

/** One process of each contestant, measured in turns. */
async function measureProcesses(each: ThroughputCase, plan: Plan): Promise<readonly Runner[]> {
  const runners: Runner[] = []
  for (const name of plan.contestantsIn(each.name)) runners.push(await prepareRunner(each, name, plan))
  for (let round = 0; round < plan.warmUpRounds; round++) {
    for (const runner of runners) await runner.run(plan.roundMs)
  }
  runners.forEach(forget)
  for (let round = 0; round < plan.rounds; round++) {
    for (const runner of runners) await runner.run(plan.roundMs)
  }
  for (const runner of runners) await runner.close()
  return runners
}

async function measureCase(each: ThroughputCase, plan: Plan): Promise<readonly Measure[]> {
  const runners: Runner[] = []
  for (let process = 0; process < plan.processes; process++) runners.push(...(await measureProcesses(each, plan)))
  const { name, what } = each
  if (runners.length === 0) return []
  const shares = plan
    .contestantsIn(name)
    .map(
      (contestant) => `${contestant} ${median(allOf(runners, contestant, (runner) => runner.loadShares)).toFixed(2)}`,
    )
  plan.tell(`${name}: share of a core that the load took: ${shares.join(', ')}`)
  return [
    { name, what, unit: 'per second', better: 'more', values: medians(runners, (runner) => runner.rates) },
    {
      name: `${name}Cpu`,
      what,
      unit: 'CPU µs each',
      better: 'less',
      values: medians(runners, (runner) => runner.cpuMicros),
    },
  ]
}

export const throughputGroups: readonly MeasureGroup[] = cases.map((each) => ({
  names: [each.name, `${each.name}Cpu`],
  measure: (plan: Plan) => measureCase(each, plan),
}))
