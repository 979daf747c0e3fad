/** 1,000 subscribers of one task, and one event for all of them: the time until the last one has it. */
import { type Contestant, startContestant } from '../contestants/contestant.ts'
import { ask, type Connection, openConnection } from '../load/connection.ts'
import { eventReader } from '../load/events.ts'
import { type Measure, median } from '../report.ts'
import {
  announcementText,
  type ContestantName,
  question,
  requestText,
  sendMessageBody,
  subscribeBody,
} from '../workload.ts'
import type { MeasureGroup, Plan } from './plan.ts'

const subscribers = 1_000
/** Opened this many at a time: a listener's backlog is shorter than 1,000. */
const openedAtOnce = 50
const timeoutMs = 10_000

interface FanOut {
  readonly elapsedMs: number
  readonly received: number
  readonly rssGrowthMb: number
  /** The CPU time of the server for one event to all, in milliseconds. */
  readonly cpuMs: number
}

/** Counts the subscribers that have received a text, and resolves when all have, or at the timeout. */
function createSubscriberGroup(): { see(subscriber: number, data: string): void; wait(text: string): Promise<number> } {
  let wanted = ''
  let seen = new Set<number>()
  let resolve: (() => void) | undefined
  return {
    see(subscriber, data) {
      if (!data.includes(wanted)) return
      seen.add(subscriber)
      if (seen.size === subscribers) resolve?.()
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
  taskId: string,
  see: (subscriber: number, data: string) => void,
): Promise<readonly Connection[]> {
  const request = requestText(port, 'announcer', subscribeBody(taskId))
  async function open(subscriber: number): Promise<Connection> {
    const first = Promise.withResolvers<void>()
    const read = eventReader((data) => {
      first.resolve()
      see(subscriber, data)
    })
    const listener = {
      piece: read,
      end: (status: number) => first.reject(new Error(`a subscription ended: ${status}`)),
    }
    const connection = await openConnection(port, listener, first.reject)
    connection.send(request)
    await first.promise
    return connection
  }
  const opened: Connection[] = []
  while (opened.length < subscribers) {
    const next = Array.from({ length: openedAtOnce }, (_, index) => open(opened.length + index))
    opened.push(...(await Promise.all(next)))
  }
  return opened
}

async function announceAll(
  contestant: Contestant,
  { see, wait }: ReturnType<typeof createSubscriberGroup>,
  times: number,
): Promise<FanOut> {
  const taskId = await openTask(contestant.port)
  const before = await contestant.usage(true)
  const connections = await subscribe(contestant.port, taskId, see)
  const elapsed: number[] = []
  const idle = await contestant.usage()
  let received = subscribers
  for (let index = 1; index <= times; index++) {
    const text = announcementText(index)
    const start = performance.now()
    const all = wait(text)
    contestant.announce(text)
    received = Math.min(received, await all)
    elapsed.push(performance.now() - start)
  }
  const cpuMs = ((await contestant.usage()).cpuMicros - idle.cpuMicros) / 1000 / times
  const after = await contestant.usage(true)
  for (const connection of connections) connection.close()
  return { elapsedMs: median(elapsed), received, rssGrowthMb: (after.rss - before.rss) / 1e6, cpuMs }
}

async function measureFanOut(plan: Plan): Promise<readonly Measure[]> {
  const results = new Map<ContestantName, FanOut[]>(plan.contestants.map((name) => [name, []]))
  for (let round = 0; round < plan.fanOutRounds; round++) {
    for (const [name, done] of results) {
      const contestant = await startContestant(name, plan)
      const result = await announceAll(contestant, createSubscriberGroup(), plan.announcements)
      await contestant.close()
      plan.tell(`${name}: ${result.received} of ${subscribers} subscribers in ${result.elapsedMs.toFixed(1)} ms`)
      done.push(result)
    }
  }
  const values = (pick: (result: FanOut) => number): Measure['values'] =>
    Object.fromEntries([...results].map(([name, done]) => [name, median(done.map(pick))]))
  const what = 'One event to 1,000 subscribers'
  return [
    { name: 'fanout', what, unit: 'ms', better: 'less', values: values((result) => result.elapsedMs) },
    { name: 'fanoutCpu', what, unit: 'CPU ms', better: 'less', values: values((result) => result.cpuMs) },
    { name: 'fanoutReceived', what, unit: 'got it', better: 'more', values: values((result) => result.received) },
    { name: 'fanoutRss', what, unit: 'MB more', better: 'less', values: values((result) => result.rssGrowthMb) },
  ]
}

export const fanOutGroup: MeasureGroup = {
  names: ['fanout', 'fanoutCpu', 'fanoutReceived', 'fanoutRss'],
  measure: measureFanOut,
}
