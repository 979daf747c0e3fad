/**
 * What each caller does, by hour for two days and by day for a month. One row per caller, so that an erasure removes whole rows, and
 * per process, so that replicas need not coordinate. Callers are unbounded: they are no labels of metrics, and all after the first
 * thousand of an hour or a day are counted together.
 */
import { createHash } from 'node:crypto'
import { newId, type Json } from '@parley/a2a'
import type { KeyValueEntry, KeyValueWrite } from '@parley/a2a/stores'
import { amountOf, roundCost } from '../traces/span-totals.ts'
import { addSpent, type Spent } from './stat-counters.ts'

export interface CallerUsage {
  /** The principal; absent for the callers that are counted together. */
  readonly caller?: string
  /** Messages that it sent. */
  readonly calls: number
  /** Requests that ended with an error of the hub or of an agent, and its failed tasks. */
  readonly errors: number
  /** Requests that a limit of the hub or of an agent refused. */
  readonly refused: number
  /** Also of the tasks that agents delegated on its behalf. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost?: number
  /** In milliseconds since the epoch. */
  readonly lastSeenAt: number
}

export const callerRanges = ['24h', '7d', '30d'] as const
export type CallerRange = (typeof callerRanges)[number]

/** One row: a caller in an hour or a day, as this process counted it. */
export interface CallerRow {
  readonly key: string
  /** Empty for those that are counted together. */
  readonly caller: string
  readonly endsAt: number
  readonly expiresAt: number
  readonly usage: { -readonly [Name in keyof Omit<CallerUsage, 'caller'>]: CallerUsage[Name] }
  /** Whether it differs from what is stored. */
  isChanged: boolean
}

export interface CallerStats {
  /** It sent a request, which was a message to an agent (`isCall`) ended with an error of the hub or the agent (`isFault`), or exceeded a limit. */
  onOutcome(caller: string, isCall: boolean, isFault: boolean, isRefused?: boolean): void
  /** A task of this owner failed. */
  onFailed(owner: string): void
  onSpent(owner: string, spent: Spent): void
  /** The rows to write. `onCount` is called with the first count after it. */
  changed(): readonly CallerRow[]
  /** Forgets rows that are over and stored, or older than they are kept. */
  forgetOld(): void
  forgetCaller(isMatch: (caller: string) => boolean): void
}

interface Resolution {
  readonly name: string
  readonly stepMs: number
  readonly keepMs: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const byHour: Resolution = { name: 'hour', stepMs: hourMs, keepMs: 2 * dayMs }
const byDay: Resolution = { name: 'day', stepMs: dayMs, keepMs: 31 * dayMs }
const rangeSteps: Readonly<Record<CallerRange, { readonly resolution: Resolution; readonly count: number }>> = {
  '24h': { resolution: byHour, count: 24 },
  '7d': { resolution: byDay, count: 7 },
  '30d': { resolution: byDay, count: 30 },
}
/** The beginning of all keys. */
export const callersPrefix = 'caller/'
const defaultMaxCallers = 1_000
const maxNameLength = 1_024
const others = ''

export function createCallerStats(
  { now, onCount }: { readonly now: () => number; onCount(): void },
  maxCallers = defaultMaxCallers,
): CallerStats {
  /** By the beginning of their keys, then by caller. */
  const buckets = new Map<string, Map<string, CallerRow>>()
  let writer = newId()
  let latestAt = -Infinity
  let isCounting = false

  function count(caller: string, change: (usage: CallerRow['usage']) => void): void {
    const at = now()
    // The clock was set back: rows that are already stored are not overwritten.
    if (at < latestAt - hourMs) writer = newId()
    latestAt = at
    if (!isCounting) onCount()
    isCounting = true
    for (const resolution of [byHour, byDay]) {
      const row = rowOf(caller, resolution, at)
      row.isChanged = true
      change(row.usage)
    }
  }

  function rowOf(caller: string, resolution: Resolution, at: number): CallerRow {
    const start = startOf(resolution, at)
    const prefix = bucketPrefix(resolution, start)
    let bucket = buckets.get(prefix)
    if (bucket === undefined) buckets.set(prefix, (bucket = new Map<string, CallerRow>()))
    const isOther = !bucket.has(caller) && (bucket.size >= maxCallers || caller.length > maxNameLength)
    const name = isOther ? others : caller
    let row = bucket.get(name)
    if (row !== undefined) return row
    row = {
      // A name may be longer than a key of the store.
      key: `${prefix}${createHash('sha256').update(name).digest('base64url')}/${writer}`,
      caller: name,
      endsAt: start + resolution.stepMs,
      expiresAt: start + resolution.keepMs,
      usage: { calls: 0, errors: 0, refused: 0, inputTokens: 0, outputTokens: 0, lastSeenAt: 0 },
      isChanged: true,
    }
    bucket.set(name, row)
    return row
  }

  return {
    onOutcome(caller, isCall, isFault, isRefused = false) {
      const at = now()
      count(callerOf(caller), (usage) => {
        usage.lastSeenAt = at
        if (isCall) usage.calls += 1
        if (isFault) usage.errors += 1
        if (isRefused) usage.refused += 1
      })
    },
    onFailed(owner) {
      // A failed task of an agent that works on behalf of the caller is an error of that agent.
      if (!owner.startsWith('agent:')) count(owner, (usage) => (usage.errors += 1))
    },
    onSpent(owner, spent) {
      count(callerOf(owner), (usage) => addSpent(usage, spent))
    },
    changed() {
      isCounting = false
      return [...buckets.values()].flatMap((bucket) => [...bucket.values()].filter(({ isChanged }) => isChanged))
    },
    forgetOld() {
      const at = now()
      for (const [prefix, bucket] of buckets) {
        for (const [name, { endsAt, expiresAt, isChanged }] of bucket)
          if ((endsAt <= at && !isChanged) || expiresAt <= at) bucket.delete(name)
        if (bucket.size === 0) buckets.delete(prefix)
      }
    },
    forgetCaller(isMatch) {
      for (const bucket of buckets.values()) for (const name of bucket.keys()) if (isMatch(name)) bucket.delete(name)
    },
  }
}

export function callerWrite({ key, caller, expiresAt, usage }: CallerRow): KeyValueWrite {
  return { key, value: { caller, ...usage }, expiresAt }
}

/** The caller of a stored row. */
export function callerIn(value: Json): string {
  const { caller } = (value ?? {}) as { readonly caller?: Json }
  return typeof caller === 'string' ? caller : others
}

/** Where the rows of a range are in the store. */
export function callerRows(range: CallerRange, now: number): { readonly prefix: string; readonly after: string } {
  const { resolution, count } = rangeSteps[range]
  const first = startOf(resolution, now) - (count - 1) * resolution.stepMs
  return { prefix: `${callersPrefix}${resolution.name}/`, after: bucketPrefix(resolution, first) }
}

/** The sums of the rows, by caller: the one with the most calls first, and those that are counted together last. */
export function sumCallers(rows: Iterable<KeyValueEntry>): readonly CallerUsage[] {
  const sums = new Map<string, CallerRow['usage']>()
  for (const { value } of rows) {
    const caller = callerIn(value)
    const stored = value as Readonly<Record<string, unknown>>
    const amount = (name: string): number => amountOf(stored[name]) ?? 0
    const sum = sums.get(caller)
    const cost = amountOf(stored['cost'])
    sums.set(caller, {
      calls: (sum?.calls ?? 0) + amount('calls'),
      errors: (sum?.errors ?? 0) + amount('errors'),
      refused: (sum?.refused ?? 0) + amount('refused'),
      inputTokens: (sum?.inputTokens ?? 0) + amount('inputTokens'),
      outputTokens: (sum?.outputTokens ?? 0) + amount('outputTokens'),
      lastSeenAt: Math.max(sum?.lastSeenAt ?? 0, Number(stored['lastSeenAt'] ?? 0)),
      ...(cost === undefined && sum?.cost === undefined ? {} : { cost: roundCost((sum?.cost ?? 0) + (cost ?? 0)) }),
    })
  }
  return Array.from(sums, ([caller, usage]): CallerUsage => (caller === others ? usage : { caller, ...usage })).sort(
    (one, other) =>
      Number(one.caller === undefined) - Number(other.caller === undefined) ||
      other.calls - one.calls ||
      other.lastSeenAt - one.lastSeenAt,
  )
}

function startOf({ stepMs }: Resolution, at: number): number {
  return Math.floor(at / stepMs) * stepMs
}

function bucketPrefix({ name }: Resolution, start: number): string {
  return `${callersPrefix}${name}/${String(start / 1_000).padStart(11, '0')}/`
}

/** The caller on whose behalf agents own a task. */
function callerOf(owner: string): string {
  return owner.replace(/^(?:agent:[^|]*\|)+/, '')
}
