/**
 * A hop: client → hub (kind `a2a`) → agent, beside client → agent. The agent is the same process in both cases. A hub that keeps its tasks
 * in memory shows what the hop costs without the commits of the hub.
 */
import { type Contestant, startContestant } from '../contestants/contestant.ts'
import type { ContestantName } from '../contestants/lineup.ts'
import { createBodyCheck } from '../load/body-check.ts'
import { openLoad } from '../load/open-load.ts'
import { type Measure, median } from '../report.ts'
import { question, requestText, sendMessageBody } from '../workload.ts'
import { quantiles, takeTimes, type TimedWork } from './latency.ts'
import type { MeasureGroup, Plan } from './plan.ts'

const connections = 32
const createCheck = createBodyCheck('"result"', '"task"', 'TASK_STATE_COMPLETED', 'Thursday')

/** Where a client sends a task, and what it takes: `port` is that of the hub, or of the agent itself. */
export interface HopRoute {
  readonly name: ContestantName
  readonly port: number
  nextRequest(): string
}

const routeTo = ({ name, port }: Contestant): HopRoute => ({
  name,
  port,
  nextRequest: () => requestText(port, 'task', sendMessageBody(question)),
})

async function rates(routes: readonly HopRoute[], plan: Plan): Promise<Measure['values']> {
  const results = new Map<ContestantName, number[]>(routes.map(({ name }) => [name, []]))
  for (let round = 0; round < plan.warmUpRounds + plan.rounds; round++) {
    for (const { name, port, nextRequest } of routes) {
      const load = await openLoad({ port, connections, nextRequest, createCheck })
      const { perSecond } = await load.run(plan.roundMs)
      load.close()
      if (round >= plan.warmUpRounds) results.get(name)?.push(perSecond)
    }
  }
  return Object.fromEntries([...results].map(([name, all]) => [name, median(all)]))
}

async function measureHop(plan: Plan): Promise<readonly Measure[]> {
  const [direct, ...hubs] = plan.contestantsIn('hop')
  if (direct === undefined) return []
  const agent = await startContestant(direct, plan)
  const contestants = [agent]
  for (const name of hubs) {
    contestants.push(await startContestant(name, plan, { upstream: `http://127.0.0.1:${agent.port}` }))
  }
  const routes = contestants.map(routeTo)
  const perSecond = await rates(routes, plan)
  const works = routes.map((route): TimedWork => ({ ...route, expected: 'TASK_STATE_COMPLETED' }))
  const times = await takeTimes(works, plan.samples)
  for (const contestant of contestants.toReversed()) await contestant.close()
  const what = 'Hop to an A2A agent, a task'
  const latency = (name: string, share: number): Measure => ({
    name,
    what: `${what}, 1 connection`,
    unit: `ms, p${share * 100}`,
    better: 'less',
    values: quantiles(times, share, ({ endMs }) => endMs),
  })
  return [
    { name: 'hop', what, unit: 'per second', better: 'more', values: perSecond },
    latency('hopP50', 0.5),
    latency('hopP99', 0.99),
  ]
}

export const hopGroup: MeasureGroup = { names: ['hop', 'hopP50', 'hopP99'], measure: measureHop }
