/** Push notifications: how many a second arrive at a webhook, which only counts them, while 32 connections send tasks that name it. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type Contestant, startContestant } from '../contestants/contestant.ts'
import { openConnection } from '../load/connection.ts'
import { type Measure, median } from '../report.ts'
import { question, requestText, sendMessageBody } from '../workload.ts'
import type { MeasureGroup, Plan } from './plan.ts'

const connections = 32
/** Deliveries have ended when none has come for this long. */
const silenceMs = 1_500

interface Webhook {
  readonly url: string
  /** The number of deliveries so far, and when the last one came. */
  readonly seen: { count: number; lastAt: number; completed: number }
  close(): void
}

async function openWebhook(): Promise<Webhook> {
  const seen = { count: 0, lastAt: 0, completed: 0 }
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      seen.count += 1
      seen.lastAt = performance.now()
      if (body.includes('TASK_STATE_COMPLETED')) seen.completed += 1
      response.writeHead(200).end()
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    seen,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Sends all tasks, as fast as they are answered. */
async function sendTasks(port: number, count: number, webhook: string): Promise<void> {
  let sent = 0
  async function work(): Promise<void> {
    let body = ''
    let done: PromiseWithResolvers<number> | undefined
    const listener = { piece: (text: string) => (body += text), end: (status: number) => done?.resolve(status) }
    const connection = await openConnection(port, listener, (reason) => done?.reject(reason))
    while (sent < count) {
      sent += 1
      body = ''
      done = Promise.withResolvers<number>()
      connection.send(requestText(port, 'task', sendMessageBody(question, { webhook })))
      if ((await done.promise) !== 200 || !body.includes('TASK_STATE_COMPLETED')) throw new Error(body)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, work))
}

interface PushRate {
  readonly perSecond: number
  readonly cpuMicros: number
}

async function deliverAll(contestant: Contestant, count: number, plan: Plan): Promise<PushRate> {
  const webhook = await openWebhook()
  const { seen } = webhook
  const before = await contestant.usage()
  const start = performance.now()
  await sendTasks(contestant.port, count, webhook.url)
  // The last delivery of every task shows that it works. The full plan also counts those that come after it.
  const isEnough = (): boolean => plan.isQuick && seen.completed >= count
  while (!isEnough() && performance.now() - Math.max(seen.lastAt, start) < silenceMs) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const after = await contestant.usage()
  webhook.close()
  if (seen.completed < count) throw new Error(`${contestant.name}: ${seen.completed} of ${count} tasks delivered`)
  return {
    perSecond: (seen.count * 1_000) / (seen.lastAt - start),
    cpuMicros: (after.cpuMicros - before.cpuMicros) / seen.count,
  }
}

async function measurePush(plan: Plan): Promise<readonly Measure[]> {
  if (plan.contestantsIn('push').length === 0) return []
  const contestants: Contestant[] = []
  for (const name of plan.contestantsIn('push')) contestants.push(await startContestant(name, plan, { push: true }))
  const results = new Map(contestants.map((contestant) => [contestant, [] as PushRate[]]))
  for (const contestant of contestants) await deliverAll(contestant, Math.ceil(plan.pushTasks / 4), plan)
  for (let round = 0; round < plan.pushRounds; round++) {
    for (const [contestant, done] of results) done.push(await deliverAll(contestant, plan.pushTasks, plan))
  }
  for (const contestant of contestants) await contestant.close()
  const values = (pick: (rate: PushRate) => number): Measure['values'] =>
    Object.fromEntries([...results].map(([{ name }, done]) => [name, median(done.map(pick))]))
  const what = 'Push notifications, with their tasks'
  return [
    { name: 'push', what, unit: 'per second', better: 'more', values: values((rate) => rate.perSecond) },
    { name: 'pushCpu', what, unit: 'CPU µs each', better: 'less', values: values((rate) => rate.cpuMicros) },
  ]
}

export const pushGroup: MeasureGroup = { names: ['push', 'pushCpu'], measure: measurePush }
