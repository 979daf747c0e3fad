/**
 * One event to 1,000 and to 10,000 subscribers of one task: the time until the last one has it, from the moment at which it is in the log.
 * A server without a log has it from the moment at which it was given.
 */
import { sharedClock } from '../contestants/child-process.ts'
import { type Contestant, startContestant } from '../contestants/contestant.ts'
import type { ContestantName } from '../contestants/lineup.ts'
import { ask, type Connection, openConnection } from '../load/connection.ts'
import { eventReader } from '../load/events.ts'
import { type Measure, median } from '../report.ts'
import { announcementText, question, requestText, sendMessageBody, subscribeBody } from '../workload.ts'
import type { MeasureGroup, Plan } from './plan.ts'

/** Opened this many at a time: a listener's backlog is shorter than 1,000. */
const openedAtOnce = 50
const timeoutMs = 30_000
/** An event is far shorter, and 10,000 buffers of the usual size are 640 MB. */
const readBytes = 4_096

interface FanOut {
  /** From the append to the log until the last subscriber has it. */
  readonly elapsedMs: number
  /** The same from the moment at which the agent reported it. */
  readonly reportedMs: number
  readonly received: number
  /** Resident memory for each idle subscriber, after a full collection. */
  readonly idleKb: number
  /** The CPU time of the server for one event to all, in milliseconds. */
  readonly cpuMs: number
}

interface SubscriberGroup {
  see(subscriber: number, data: string): void
  /** Resolves when all have received the text, or at the timeout: with their number. */
  wait(text: string): Promise<number>
}

function createSubscriberGroup(size: number): SubscriberGroup {
  let wanted = ''
  let seen = new Set<number>()
  let resolve: (() => void) | undefined
  return {
    see(subscriber, data) {
      if (!data.includes(wanted)) return
      seen.add(subscriber)
      if (seen.size === size) resolve?.()
    },
    async wait(text) {
      wanted = text
      seen = new Set()
      const all = Promise.withResolvers<void>()
      resolve = all.resolve
      const timer = setTimeout(all.resolve, timeoutMs)
      await all.promise
      clearTimeout(timer)
      return seen.size
    },
  }
}

async function openTask(port: number): Promise<string> {
  const answer = await ask(port, requestText(port, 'announcer', sendMessageBody(question, { returnImmediately: true })))
  return (JSON.parse(answer) as { result: { task: { id: string } } }).result.task.id
}

/** Waits for the first event of each, the snapshot, so that all are connected. */
async function subscribe(
  port: number,
  { taskId, size }: { readonly taskId: string; readonly size: number },
  see: SubscriberGroup['see'],
): Promise<readonly Connection[]> {
  const request = requestText(port, 'announcer', subscribeBody(taskId))
  async function open(subscriber: number): Promise<Connection> {
    const first = Promise.withResolvers<void>()
    const read = eventReader((data) => {
      first.resolve()
      see(subscriber, data)
    })
    const end = (status: number): void => first.reject(new Error(`a subscription ended: ${status}`))
    const connection = await openConnection(port, { piece: read, end }, first.reject, readBytes)
    connection.send(request)
    await first.promise
    return connection
  }
  const opened: Connection[] = []
  while (opened.length < size) {
    const next = Array.from({ length: openedAtOnce }, (_, index) => open(opened.length + index))
    opened.push(...(await Promise.all(next)))
  }
  return opened
}

interface FanOutWork {
  readonly size: number
  readonly times: number
  /** Counts from the report: an older checkout does not take the time of its appends. */
  readonly fromReport: boolean
}

async function announceAll(contestant: Contestant, { size, times, fromReport }: FanOutWork): Promise<FanOut> {
  const { see, wait } = createSubscriberGroup(size)
  const taskId = await openTask(contestant.port)
  const before = await contestant.usage(true)
  const connections = await subscribe(contestant.port, { taskId, size }, see)
  const idle = await contestant.usage(true)
  const sinceAppend: number[] = []
  const sinceReport: number[] = []
  let received = size
  for (let index = 1; index <= times; index++) {
    const text = announcementText(index)
    const all = wait(text)
    const start = sharedClock()
    contestant.announce(text)
    received = Math.min(received, await all)
    const end = sharedClock()
    sinceReport.push(end - start)
    sinceAppend.push(end - (fromReport ? start : await contestant.announcedAt()))
  }
  const cpuMs = ((await contestant.usage()).cpuMicros - idle.cpuMicros) / 1000 / times
  for (const connection of connections) connection.close()
  return {
    elapsedMs: median(sinceAppend),
    reportedMs: median(sinceReport),
    received,
    idleKb: (idle.rss - before.rss) / 1e3 / size,
    cpuMs,
  }
}

interface FanOutCase {
  readonly work: 'fanout' | 'fanout10k'
  readonly size: number
  readonly rounds: (plan: Plan) => number
}

const cases: readonly FanOutCase[] = [
  { work: 'fanout', size: 1_000, rounds: (plan) => plan.fanOutRounds },
  { work: 'fanout10k', size: 10_000, rounds: (plan) => plan.manySubscribersRounds },
]

async function measureFanOut({ work, size, rounds }: FanOutCase, plan: Plan): Promise<readonly Measure[]> {
  const results = new Map<ContestantName, FanOut[]>(plan.contestantsIn(work).map((name) => [name, []]))
  for (let round = 0; round < rounds(plan); round++) {
    for (const [name, done] of results) {
      const fromReport = plan.against !== undefined
      const contestant = await startContestant(name, plan, { timesAppends: !fromReport })
      const result = await announceAll(contestant, { size, times: plan.announcements, fromReport })
      await contestant.close()
      plan.tell(`${name}: ${result.received} of ${size} subscribers in ${result.elapsedMs.toFixed(1)} ms`)
      done.push(result)
    }
  }
  const values = (pick: (result: FanOut) => number): Measure['values'] =>
    Object.fromEntries([...results].map(([name, done]) => [name, median(done.map(pick))]))
  const what = `One event to ${size.toLocaleString('en')} subscribers`
  const less = (suffix: string, unit: string, pick: (result: FanOut) => number): Measure => ({
    name: `${work}${suffix}`,
    what,
    unit,
    better: 'less',
    values: values(pick),
  })
  return [
    less('', 'ms from the append', (result) => result.elapsedMs),
    less('Reported', 'ms from the report', (result) => result.reportedMs),
    less('Cpu', 'CPU ms', (result) => result.cpuMs),
    less('Idle', 'kB per idle one', (result) => result.idleKb),
    { name: `${work}Received`, what, unit: 'got it', better: 'more', values: values((result) => result.received) },
  ]
}

export const fanOutGroups: readonly MeasureGroup[] = cases.map((each) => ({
  names: ['', 'Reported', 'Cpu', 'Idle', 'Received'].map((suffix) => `${each.work}${suffix}`),
  measure: (plan) => measureFanOut(each, plan),
}))
