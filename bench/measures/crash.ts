/**
 * Events lost when a server is killed (SIGKILL) while it streams: clients count the chunks that they received, the server starts again on
 * the same data, and the tasks are read. A chunk that a client received and the task no longer has is lost.
 */
import { createData, startContestant } from '../contestants/contestant.ts'
import type { ContestantName } from '../contestants/lineup.ts'
import { ask, type Connection, openConnection } from '../load/connection.ts'
import { eventReader } from '../load/events.ts'
import type { Measure } from '../report.ts'
import { getTaskBody, requestText, sendMessageBody } from '../workload.ts'
import type { MeasureGroup, Plan } from './plan.ts'

const streams = 8
/** More than a server sends before it is killed; `@a2a-js/sdk` needs a minute before the first event of 50,000. */
const chunksPerStream = 2_000
/** The kill comes when the clients have received this many chunks in total. */
const killAfterChunks = 400

interface StreamReader {
  taskId: string | undefined
  readonly received: Set<number>
}

const taskIdPattern = /"task": ?\{"id": ?"([^"]+)"/
const chunkPattern = /"text": ?"(\d{6}) /
const allChunks = /(\d{6}) and so it went on /g

interface CrashResult {
  readonly received: number
  readonly lost: number
}

/** Starts the streams; resolves when enough chunks have arrived. The end of a connection is expected. */
async function readStreams(port: number): Promise<readonly StreamReader[]> {
  const enough = Promise.withResolvers<void>()
  let total = 0
  const readers = Array.from({ length: streams }, (): StreamReader => ({ taskId: undefined, received: new Set() }))
  const opened: Connection[] = []
  for (const reader of readers) {
    const read = eventReader((data) => {
      reader.taskId ??= taskIdPattern.exec(data)?.[1]
      const chunk = data.includes('"artifactUpdate"') ? chunkPattern.exec(data) : null
      if (chunk === null) return
      reader.received.add(Number(chunk[1]))
      if (++total >= killAfterChunks) enough.resolve()
    })
    opened.push(await openConnection(port, { piece: read, end: () => enough.resolve() }, () => enough.resolve()))
  }
  const body = (): string => sendMessageBody(String(chunksPerStream), { streaming: true })
  for (const connection of opened) connection.send(requestText(port, 'stream', body()))
  await enough.promise
  return readers
}

function lostChunks({ received }: StreamReader, answer: string): number {
  const stored = new Set(Array.from(answer.matchAll(allChunks), ([, index]) => Number(index)))
  return [...received].filter((index) => !stored.has(index)).length
}

async function killOnce(name: ContestantName, plan: Plan): Promise<CrashResult> {
  const data = await createData(name)
  const server = await startContestant(name, plan, { data })
  const readers = await readStreams(server.port)
  await server.kill()
  // Chunks that had arrived at the client's socket count as well.
  await new Promise(setImmediate)
  const again = await startContestant(name, plan, { data })
  let [received, lost] = [0, 0]
  for (const reader of readers) {
    received += reader.received.size
    if (reader.taskId === undefined) continue
    lost += lostChunks(reader, await ask(again.port, requestText(again.port, 'stream', getTaskBody(reader.taskId))))
  }
  await again.kill()
  await data.remove()
  return { received, lost }
}

async function measureCrash(plan: Plan): Promise<readonly Measure[]> {
  if (plan.contestantsIn('crash').length === 0) return []
  const names = plan.contestantsIn('crash')
  const results = new Map<ContestantName, CrashResult[]>(names.map((name) => [name, []]))
  for (let round = 0; round < plan.kills; round++) {
    for (const [name, done] of results) {
      const result = await killOnce(name, plan)
      plan.tell(`${name}: killed; ${result.lost} of ${result.received} events lost`)
      done.push(result)
    }
  }
  const sums = (pick: (result: CrashResult) => number): Measure['values'] =>
    Object.fromEntries([...results].map(([name, done]) => [name, done.reduce((sum, each) => sum + pick(each), 0)]))
  const what = `Server killed ${plan.kills === 1 ? 'once' : `${plan.kills} times`} while it streams`
  return [
    { name: 'lost', what, unit: 'events lost', better: 'less', values: sums(({ lost }) => lost) },
    { name: 'lostOf', what, unit: 'events received', better: 'more', values: sums(({ received }) => received) },
  ]
}

export const crashGroup: MeasureGroup = { names: ['lost', 'lostOf'], measure: measureCrash }
