/** From the report of an agent to its arrival at a reader: on the replica that runs it, and on another. */
import { startReplica } from '../contestants/replicas.ts'
import { openConnection } from '../load/connection.ts'
import { eventReader } from '../load/events.ts'
import { type Measure, quantile } from '../report.ts'
import { postText, sendMessageBody, subscribeBody } from '../workload.ts'
import type { Plan } from './plan.ts'
import type { BenchDatabase } from './postgres.ts'

const paceMs = 10
const clock = (): number => performance.timeOrigin + performance.now()

/** Resolves when the task has ended; with the latency of each event. */
async function readTimes(port: number, body: string, opened: (taskId: string) => void): Promise<readonly number[]> {
  const times: number[] = []
  const over = Promise.withResolvers<void>()
  const read = eventReader((data) => {
    const [, id] = /"task":\{"id":"([^"]+)"/.exec(data) ?? []
    if (id !== undefined) opened(id)
    const [, at] = /"text":"at ([\d.]+)\."/.exec(data) ?? []
    if (at !== undefined && data.includes('"artifactUpdate"')) times.push(clock() - Number(at))
    if (data.includes('TASK_STATE_COMPLETED')) over.resolve()
  })
  const connection = await openConnection(port, { piece: read, end: () => over.resolve() }, over.reject)
  connection.send(postText(port, '/a2a/ticker', body))
  await over.promise
  connection.close()
  return times
}

export async function measureLatency({ url }: BenchDatabase, plan: Plan): Promise<readonly Measure[]> {
  const [here, there] = await Promise.all([startReplica(url), startReplica(url)])
  const { ticks } = plan
  const elsewhere = Promise.withResolvers<readonly number[]>()
  const body = sendMessageBody(`${ticks} ${paceMs}`, { streaming: true })
  const same = await readTimes(here.port, body, (id) => {
    readTimes(there.port, subscribeBody(id), () => {}).then(elsewhere.resolve, elsewhere.reject)
  })
  const other = await elsewhere.promise
  await Promise.all([here.close(), there.close()])
  if (other.length < ticks / 2) throw new Error(`the reader elsewhere got ${other.length} of ${ticks} events`)
  const measure = (name: string, what: string, times: readonly number[], share: number): Measure => ({
    name: `${name}P${share * 100}`,
    what: `An event to ${what}, p${share * 100}`,
    unit: 'ms',
    better: 'less',
    values: { parley: quantile(times, share) },
  })
  return [0.5, 0.99].flatMap((share) => [
    measure('same', 'a reader on its replica', same, share),
    measure('cross', 'a reader on another', other, share),
  ])
}
