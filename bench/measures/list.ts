/** ListTasks: the time of a page of 50 with stores of 1,000 to 1,000,000 tasks, over the newest pages, on one connection. */
import { startContestant } from '../contestants/contestant.ts'
import type { ContestantName } from '../contestants/lineup.ts'
import { openTimedConnection } from '../load/timed-requests.ts'
import { type Measure, quantile } from '../report.ts'
import { listTasksBody, requestText } from '../workload.ts'
import type { MeasureGroup, Plan } from './plan.ts'
import { storedTasks } from './stored-tasks.ts'

/** Pages are read from the newest on, then again from the start. */
const pagesDeep = 10
/** A page that takes a second is not measured hundreds of times. */
const budgetMs = 8_000
/** 1,000,000 tasks are not written to PostgreSQL: that alone takes longer than all measures of the contestant. */
const mostInPostgres = 100_000

async function pageTimes(port: number, samples: number): Promise<readonly number[]> {
  const connection = await openTimedConnection(port)
  const times: number[] = []
  const end = performance.now() + budgetMs
  let pageToken = ''
  for (let page = 0; page < samples + pagesDeep && (page < pagesDeep || performance.now() < end); page++) {
    if (page % pagesDeep === 0) pageToken = ''
    const { endMs } = await connection.send(requestText(port, 'task', listTasksBody(pageToken)), '"nextPageToken"')
    const { result } = JSON.parse(connection.body()) as {
      result: { tasks: readonly unknown[]; nextPageToken: string; totalSize: number }
    }
    if (result.tasks.length !== 50) throw new Error(`a page of ${result.tasks.length} tasks`)
    pageToken = result.nextPageToken
    // The first pages load the code and the index.
    if (page >= pagesDeep / 2) times.push(endMs)
  }
  connection.close()
  return times
}

async function measureSize(name: ContestantName, size: number, plan: Plan): Promise<number> {
  const data = await storedTasks(name, size, plan)
  const server = await startContestant(name, plan, { data })
  const times = await pageTimes(server.port, plan.samples)
  await server.close()
  await data.remove()
  return quantile(times, 0.5)
}

async function measureList(plan: Plan): Promise<readonly Measure[]> {
  const measures: Measure[] = []
  if (plan.contestantsIn('list').length === 0) return []
  for (const size of plan.listSizes) {
    const values: Partial<Record<ContestantName, number>> = {}
    for (const name of plan.contestantsIn('list')) {
      if (name.endsWith('postgres') && size > mostInPostgres) continue
      values[name] = await measureSize(name, size, plan)
      plan.tell(`${name}: a page of ${size.toLocaleString('en')} tasks in ${values[name]?.toFixed(2)} ms`)
    }
    measures.push({
      name: `list${size}`,
      what: `ListTasks, a page of 50 of ${size.toLocaleString('en')} tasks`,
      unit: 'ms, p50',
      better: 'less',
      values,
    })
  }
  return measures
}

export const listGroup: MeasureGroup = { names: ['list'], measure: measureList }
