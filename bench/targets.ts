/** The targets, each as a ratio of measurements of one run: beside other SDKs, beside the limit, and how cost grows with size. */
import type { ContestantName } from './contestants/lineup.ts'
import { type Measure, ratio, formatValue, type Target } from './report.ts'

/** Four times the work may cost 4.4 times as much: linear, with a tenth for noise. */
const linear = 4.4
/** How much the collector lets a heap grow before it runs: bare node:http, which keeps nothing, grows by 2 and 16 MB. */
const heapSlackMb = 16

/** For `--against`: a measure may be this much worse than before. */
const allowedLoss = 0.03

export function regressions(measures: readonly Measure[]): readonly Target[] {
  return measures.flatMap((measure): readonly Target[] => {
    const times = ratio(measure)
    if (times === null) return []
    const change = `${times >= 1 ? '+' : ''}${((times - 1) * 100).toFixed(1)} %`
    return [{ text: `${measure.name} at most 3 % worse`, met: times >= 1 - allowedLoss, got: change }]
  })
}

function atLeast(text: string, got: number | undefined, least: number): Target {
  return got === undefined ? { text, met: undefined, got: '' } : { text, met: got >= least, got: formatValue(got) }
}

function atMost(text: string, got: number | undefined, most: number): Target {
  return got === undefined ? { text, met: undefined, got: '' } : { text, met: got <= most, got: formatValue(got) }
}

const divide = (above: number | undefined, below: number | undefined): number | undefined =>
  above === undefined || below === undefined || below === 0 ? undefined : above / below

/** All targets. Those without measurements have no verdict. */
export function targets(measures: readonly Measure[]): readonly Target[] {
  const find = (name: string): Measure | undefined => measures.find((measure) => measure.name === name)
  const value = (name: string, contestant: ContestantName = 'parley'): number | undefined =>
    find(name)?.values[contestant]
  /** How many times better `ours` is than `other`, for every unit. */
  const better = (name: string, other: ContestantName, ours: ContestantName = 'parley'): number | undefined => {
    const [mine, theirs] = [value(name, ours), value(name, other)]
    return find(name)?.better === 'less' ? divide(theirs, mine) : divide(mine, theirs)
  }
  const growth = (short: string, long: string, atLeastFrom = 0): number | undefined => {
    const few = value(short)
    return divide(value(long), few === undefined ? undefined : Math.max(few, atLeastFrom))
  }
  /** Of our server relative to bare node:http. */
  const cost = (name: string): number | undefined => divide(value(name), value(name, 'bare'))
  const [direct, hop] = [value('hopP50'), value('hopP50', 'hub-memory')]
  const lists = measures
    .filter(({ name }) => name.startsWith('list'))
    .toSorted((a, b) => Number(a.name.slice(4)) - Number(b.name.slice(4)))
  const [shortest, longest] = [lists[0]?.name ?? '', lists.at(-1)?.name ?? '']

  return [
    atLeast('task: hub at least 0.75× the SDK with the same store', better('task', 'parley', 'hub'), 0.75),
    atLeast('task: at least 2.8× @a2a-js/sdk in memory', better('task', 'a2a-js'), 2.8),
    atLeast('task: at least 6× @a2a-js/sdk with its SQL store on SQLite', better('task', 'a2a-js-sqlite'), 6),
    atLeast('message: at least 0.85× bare node:http', better('message', 'bare'), 0.85),
    atLeast('GetTask, not in memory: at least 3× the SQL store of @a2a-js/sdk', better('getCold', 'a2a-js-sqlite'), 3),
    atLeast('streams of 20 chunks: at least 8× @a2a-js/sdk', better('stream20', 'a2a-js'), 8),
    atLeast('4,000 chunks: at least 300× @a2a-js/sdk', better('chunks4000', 'a2a-js'), 300),
    atMost('time of 64,000 chunks over 16,000: at most 4.4', growth('chunks16000', 'chunks64000'), linear),
    atMost('time of 16,000 chunks over 4,000: at most 4.4', growth('chunks4000', 'chunks16000'), linear),
    atMost('stored bytes of 64,000 chunks over 16,000: at most 4.4', growth('stored16000', 'stored64000'), linear),
    atMost(
      'memory growth of 16,000 chunks over 4,000: at most 4.4',
      growth('rss4000', 'rss16000', heapSlackMb),
      linear,
    ),
    atMost('1,000 subscribers: at most 1.1× the time of bare node:http', cost('fanout'), 1.1),
    atMost('1,000 subscribers: at most 1.1× the memory of bare node:http', cost('fanoutIdle'), 1.1),
    atMost('10,000 subscribers: at most 12× the time of 1,000', growth('fanout', 'fanout10k'), 12),
    atLeast('1,000 of 1,000 subscribers get the event', value('fanoutReceived'), 1_000),
    atLeast('10,000 of 10,000 subscribers get the event', value('fanout10kReceived'), 10_000),
    atLeast('gRPC stream events: at least 0.8× bare grpc-js', better('grpc', 'bare-grpc'), 0.8),
    atLeast('hop: at least 0.5× the direct throughput', better('hop', 'parley', 'hub'), 0.5),
    atMost(
      'hop: at most 1 ms p50 added on one connection, without the commits of the hub',
      direct === undefined || hop === undefined ? undefined : hop - direct,
      1,
    ),
    atMost(
      'ListTasks: a page of the largest store at most 2× that of the smallest',
      shortest === longest ? undefined : growth(shortest, longest),
      2,
    ),
    atLeast('PostgreSQL, one replica: at least 2× DBOS', value('dbosTimes'), 2),
    atMost('events lost by kill -9: none', value('lost'), 0),
    atMost('events lost by kill -9 of the hub: none', value('lost', 'hub'), 0),
  ]
}
