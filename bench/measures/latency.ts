/** Times of single requests: contestants in turns, one connection, one request at a time. */
import { type Contestant, startContestant } from '../contestants/contestant.ts'
import type { ContestantName } from '../contestants/lineup.ts'
import { openTimedConnection, type RequestTime } from '../load/timed-requests.ts'
import { type Measure, quantile } from '../report.ts'
import { requestText, sendMessageBody } from '../workload.ts'
import type { MeasureGroup, Plan } from './plan.ts'

/** Each contestant has this many turns. */
const turns = 5

export interface TimedWork {
  readonly name: ContestantName
  readonly port: number
  nextRequest(): string
  readonly expected: string
}

/** The times of all requests of each contestant that count; the first turn warms up. */
export async function takeTimes(
  works: readonly TimedWork[],
  samples: number,
): Promise<ReadonlyMap<ContestantName, readonly RequestTime[]>> {
  const times = new Map<ContestantName, RequestTime[]>(works.map(({ name }) => [name, []]))
  for (let turn = 0; turn <= turns; turn++) {
    for (const { name, port, nextRequest, expected } of works) {
      const connection = await openTimedConnection(port)
      for (let index = 0; index < Math.ceil(samples / turns); index++) {
        const time = await connection.send(nextRequest(), expected)
        if (turn > 0) times.get(name)?.push(time)
      }
      connection.close()
    }
  }
  return times
}

export function quantiles(
  times: ReadonlyMap<ContestantName, readonly RequestTime[]>,
  share: number,
  pick: (time: RequestTime) => number,
): Measure['values'] {
  return Object.fromEntries([...times].map(([name, all]) => [name, quantile(all.map(pick), share)]))
}

async function measureFirstEvent(plan: Plan): Promise<readonly Measure[]> {
  const contestants: Contestant[] = []
  for (const name of plan.contestantsIn('firstEvent')) contestants.push(await startContestant(name, plan))
  const works = contestants.map(({ name, port }): TimedWork => ({
    name,
    port,
    nextRequest: () => requestText(port, 'stream', sendMessageBody('20', { streaming: true })),
    expected: 'TASK_STATE_COMPLETED',
  }))
  const times = await takeTimes(works, plan.samples)
  for (const contestant of contestants) await contestant.close()
  const measure = (name: string, share: number): Measure => ({
    name,
    what: 'Time to the first event of a stream',
    unit: `ms, p${share * 100}`,
    better: 'less',
    values: quantiles(times, share, ({ firstMs }) => firstMs),
  })
  return [measure('firstEvent', 0.5), measure('firstEventP99', 0.99)]
}

export const firstEventGroup: MeasureGroup = { names: ['firstEvent', 'firstEventP99'], measure: measureFirstEvent }
