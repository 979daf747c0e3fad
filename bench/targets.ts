/** The targets: how much faster than `@a2a-js/sdk`, how close to the limit, and how cost grows with length. */
import { type Measure, ratio, formatValue, type Target } from './report.ts'
import type { ContestantName } from './contestants/lineup.ts'

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

export function targets(measures: readonly Measure[]): readonly Target[] {
  const value = (name: string, contestant: ContestantName = 'parley'): number | undefined =>
    measures.find((measure) => measure.name === name)?.values[contestant]

  function atLeast(text: string, got: number | null | undefined, least: number): Target {
    if (got === undefined || got === null) return { text, met: undefined, got: '' }
    return { text, met: got >= least, got: formatValue(got) }
  }
  function atMost(text: string, got: number | undefined, most: number): Target {
    if (got === undefined) return { text, met: undefined, got: '' }
    return { text, met: got <= most, got: formatValue(got) }
  }
  const overA2aJs = (name: string): number | null | undefined => {
    const measure = measures.find((each) => each.name === name)
    return measure && ratio(measure)
  }
  const overBare = (name: string): number | undefined => {
    const [ours, limit] = [value(name), value(name, 'bare')]
    return ours === undefined || limit === undefined ? undefined : ours / limit
  }
  const growth = (short: string, long: string, atLeastFrom = 0): number | undefined => {
    const [few, many] = [value(short), value(long)]
    return few === undefined || many === undefined ? undefined : many / Math.max(few, atLeastFrom)
  }

  return [
    atLeast('message at least 3× @a2a-js/sdk', overA2aJs('message'), 3),
    atLeast('message at least 0.6× bare node:http', overBare('message'), 0.6),
    atLeast('task at least 3× @a2a-js/sdk', overA2aJs('task'), 3),
    atLeast('4,000 chunks at least 100× @a2a-js/sdk', overA2aJs('chunks4000'), 100),
    atMost('time of 16,000 chunks over 4,000 at most 4.4', growth('chunks4000', 'chunks16000'), linear),
    atMost('stored bytes of 16,000 chunks over 4,000 at most 4.4', growth('stored4000', 'stored16000'), linear),
    atMost('memory growth of 16,000 chunks over 4,000 at most 4.4', growth('rss4000', 'rss16000', heapSlackMb), linear),
    atLeast('1,000 of 1,000 subscribers get the event', value('fanoutReceived'), 1_000),
  ]
}
