/**
 * Failed tasks in groups: those of one agent that failed for the same reason, whatever ids, numbers, times and addresses their
 * errors contain. A log is read once, because a failed task does not change.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import { omitUndefined } from '@parley/a2a/internal'
import type { LogRecord, Store, TaskRow } from '@parley/a2a/stores'
import { causeIn } from './task-facts.ts'
import { failureExcerpt } from './task-view.ts'

export interface FailureQuery {
  /** Of the status, in milliseconds: inclusive. */
  readonly since: number
  /** Exclusive. */
  readonly until: number
  readonly agent?: string | undefined
}

export interface FailureGroup {
  readonly agent: string
  /** The reason that the agent or the hub reported, or the code of a system error. */
  readonly code?: string
  /** With placeholders, such as `<id>`. Absent if the task has no error and no message. */
  readonly cause?: string
  readonly count: number
  /** The oldest of them that was read. */
  readonly firstAt: number
  readonly newest: TaskRow
  /** How many failed in each step of the window, oldest first. */
  readonly trend: readonly number[]
}

export interface FailureGroups {
  /** The most frequent first. */
  readonly groups: readonly FailureGroup[]
  /** The number of failed tasks that were read. */
  readonly read: number
  /** Whether there are older ones in the window. */
  readonly isCut: boolean
}

export const trendSteps = 12
/** Failed tasks that one request reads. */
const defaultMaxRead = 10_000
const pageSize = 500
/** Logs that are read before other requests have their turn. */
const batchSize = 50
/** A failed task ends with its error, the messages that were dropped, and the status. */
const lastRecords = 6
const lastBytes = 100_000

type Failure = Pick<FailureGroup, 'agent' | 'code' | 'cause'>

export function createFailureGroups(
  { tasks }: Pick<Store, 'tasks'>,
  redact: (text: string) => string,
  maxRead = defaultMaxRead,
): (query: FailureQuery) => Promise<FailureGroups> {
  /** By task; tasks of one group share the object. The least recently read go first. */
  const failures = new Map<string, Failure>()
  const shared = new Map<string, Failure>()

  async function failureOf(row: TaskRow): Promise<Failure> {
    const known = failures.get(row.id)
    const failure =
      known ?? share(failureIn(row, await tasks.read(row.id, row.head - lastRecords, lastRecords, lastBytes)))
    failures.delete(row.id)
    failures.set(row.id, failure)
    return failure
  }

  function share(failure: Failure): Failure {
    const key = JSON.stringify([failure.agent, failure.code, failure.cause])
    const known = shared.get(key)
    if (known === undefined) shared.set(key, failure)
    return known ?? failure
  }

  function failureIn(row: TaskRow, records: readonly LogRecord[]): Failure {
    const cause = causeIn(row, records)
    const text = failureExcerpt(row, cause === undefined ? undefined : redact(cause))
    return {
      agent: row.agent,
      ...omitUndefined({ code: codeIn(records, cause), cause: text && withPlaceholders(text) }),
    }
  }

  function forgetOldest(): void {
    for (const id of failures.keys()) {
      if (failures.size <= maxRead) break
      failures.delete(id)
    }
    if (shared.size <= maxRead) return
    // Those of known tasks stay: another object for the same cause would be another group.
    const known = new Set(failures.values())
    for (const [key, failure] of shared) if (!known.has(failure)) shared.delete(key)
  }

  return async ({ since, until, agent }) => {
    const groups = new Map<Failure, { count: number; firstAt: number; newest: TaskRow; trend: number[] }>()
    const stepMs = (until - since) / trendSteps
    let read = 0
    let before: TaskRow | undefined
    let more = true
    while (more && read < maxRead) {
      const page = await tasks.search({
        ...omitUndefined({ agent, before }),
        states: ['TASK_STATE_FAILED'],
        from: since,
        until,
        limit: Math.min(pageSize, maxRead - read),
      })
      for (let at = 0; at < page.tasks.length; at += batchSize) {
        const rows = page.tasks.slice(at, at + batchSize)
        for (const [index, failure] of (await Promise.all(rows.map(failureOf))).entries()) {
          const row = rows[index] as TaskRow
          const group = groups.get(failure) ?? {
            count: 0,
            firstAt: row.statusAt,
            newest: row,
            trend: Array.from({ length: trendSteps }, () => 0),
          }
          group.count += 1
          group.firstAt = row.statusAt
          const step = Math.min(trendSteps - 1, Math.floor((row.statusAt - since) / stepMs))
          group.trend[step] = (group.trend[step] as number) + 1
          groups.set(failure, group)
        }
        await breathe()
      }
      read += page.tasks.length
      before = page.tasks.at(-1)
      more = page.more && before !== undefined
    }
    forgetOldest()
    const found = Array.from(groups, ([failure, group]) => ({ ...failure, ...group }))
    found.sort((one, other) => other.count - one.count || other.newest.statusAt - one.newest.statusAt)
    return { groups: found, read, isCut: more }
  }
}

/** The reason in the metadata of the last status, or the code of a system error in the cause. */
function codeIn(records: readonly LogRecord[], cause = ''): string | undefined {
  const ending = records.findLast(({ body }) => body.type === 'status')?.body
  const reason = ending?.type === 'status' ? ending.metadata?.['reason'] : undefined
  if (typeof reason === 'string' && /^[A-Z][A-Z\d_]{1,63}$/.test(reason)) return reason
  return /\b(?:E[A-Z]{3,20}|ERR_[A-Z_]{3,60})\b/.exec(cause)?.[0]
}

/** In this order: an address contains numbers, and a time may look like one. */
const placeholders: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z+.-]{1,20}:\/\/[^\s"'<>)\]}]+/gi, '<url>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '<time>'],
  [/\b[\w.+-]+@[\w-]+\.[\w.-]*\w/g, '<address>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '<address>'],
  [/\[?(?:[\da-f]{0,4}:){3,7}[\da-f]{0,4}\]?(?::\d+)?(?![\w:])/gi, '<address>'],
  [/\b(?:localhost|[\w-]+(?:\.[\w-]+)+):\d+\b/g, '<address>'],
  [/\b\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?\b/g, '<time>'],
  [/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/gi, '<id>'],
  // Letters and digits that no word has: a hexadecimal number, or a long token.
  [/\b(?=[\da-f]*\d)(?=\d*[a-f])[\da-f]{8,}\b|\b(?=[a-z_-]*\d)[\w-]{16,}\b/gi, '<id>'],
  // The status of a response tells causes apart, and so do the digits in a name.
  [/(?<!\bHTTP |\bstatus |\bstatus code |[\w<])\d+(?:[.,]\d+)*(?=(?:ms|s|min|h|d|k?b|mb|gb)?(?!\w))/gi, '<n>'],
]

/** What differs between two failures for the same reason is replaced. Of an excerpt: the patterns are not for long texts. */
export function withPlaceholders(excerpt: string): string {
  return placeholders.reduce((text, [pattern, placeholder]) => text.replaceAll(pattern, placeholder), excerpt)
}
