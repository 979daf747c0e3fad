/** Where the time of a task went, by its spans: every moment of its turns belongs to one part. Pure. */
import type { TimeParts, TraceSpan } from './trace-types.ts'

export const noTime: TimeParts = {
  queueMs: 0,
  firstModelMs: 0,
  modelMs: 0,
  toolsMs: 0,
  otherMs: 0,
  waitingMs: 0,
  deliveryMs: 0,
}

type TimedSpan = Pick<TraceSpan, 'kind' | 'startedAt' | 'endedAt'>
type CallPart = 'firstModelMs' | 'modelMs' | 'toolsMs'
const callParts: readonly CallPart[] = ['firstModelMs', 'modelMs', 'toolsMs']

export function addTimes(one: TimeParts, other: TimeParts): TimeParts {
  const sum = { ...one }
  for (const name of Object.keys(noTime) as (keyof TimeParts)[]) Object.assign(sum, { [name]: one[name] + other[name] })
  return sum
}

/** Of the spans of one task; those that have not ended are left out. */
export function timePartsOf(spans: readonly TimedSpan[]): TimeParts {
  const ended = spans.flatMap(({ kind, startedAt, endedAt }) =>
    endedAt === undefined ? [] : [{ kind, startedAt, endedAt }],
  )
  ended.sort((one, other) => one.startedAt - other.startedAt)
  const turns = ended.filter(({ kind }) => kind === 'turn')
  const calls = ended.filter(({ kind }) => kind !== 'turn' && kind !== 'task' && kind !== 'push')
  const firstModel = calls.find(({ kind }) => kind === 'model')
  const parts: Record<keyof TimeParts, number> = { ...noTime }
  for (const { kind, startedAt, endedAt } of ended) if (kind === 'push') parts.deliveryMs += endedAt - startedAt
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1]
    if (before !== undefined) parts.waitingMs += Math.max(0, turn.startedAt - before.endedAt)
    const within = calls.filter((call) => call.startedAt < turn.endedAt && call.endedAt > turn.startedAt)
    const changes = within.flatMap((call) => {
      const part = call === firstModel ? 'firstModelMs' : call.kind === 'model' ? 'modelMs' : 'toolsMs'
      return [
        { at: Math.max(call.startedAt, turn.startedAt), part, by: 1 },
        { at: Math.min(call.endedAt, turn.endedAt), part, by: -1 },
      ] as const
    })
    changes.sort((one, other) => one.at - other.at)
    const open = { firstModelMs: 0, modelMs: 0, toolsMs: 0 }
    let at = turn.startedAt
    let isFirst = within.length > 0
    for (const change of [...changes, { at: turn.endedAt, part: 'toolsMs', by: 0 } as const]) {
      const part = callParts.find((name) => open[name] > 0) ?? (isFirst ? 'queueMs' : 'otherMs')
      parts[part] += change.at - at
      at = change.at
      open[change.part] += change.by
      isFirst = false
    }
  }
  return parts
}
