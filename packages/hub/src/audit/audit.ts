/**
 * Every request, off the hot path: entries are gathered for up to a second and written as one note, because a row for each
 * would cost the store more than the request did. What concerns security is written at once, and takes along what waits.
 * Newest first when it is read; notes go when they are older than the retention.
 */
import { newId, type Json, type Notes } from '@parley/a2a'
import { type AuditEntry, isSecurity } from './entry.ts'

export interface AuditQuery {
  readonly limit: number
  /** As the page before said. */
  readonly before?: string | undefined
  /** Whether an entry is wanted. Default: all are. */
  matches?(entry: AuditEntry): boolean
  /** Milliseconds since the epoch: what is older is not looked at. */
  readonly since?: number | undefined
}

export interface FoundEntry extends AuditEntry {
  /** Where it stands; the page that goes on before the next number begins with it. */
  readonly id: string
}

export interface AuditPage {
  readonly entries: readonly FoundEntry[]
  /** To be asked for next, if there is more. */
  readonly before?: string
}

export interface Audit {
  record(entry: AuditEntry): void
  list(query: AuditQuery): Promise<AuditPage>
  /** Resolves when everything recorded so far is written. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface AuditParts {
  readonly notes: Notes
  readonly now?: () => number
  readonly retentionMs: number
  /** Told of a write that failed; it is tried again. */
  failed?(cause: unknown): void
}

const kind = 'audit'
const everyMs = 1_000
/** Of one note. */
const mostTogether = 500
/** Kept back while the store does not answer; what came first goes first. */
const mostWaiting = 20_000
/** Looked at in one page, however few of them match. */
const mostSearched = 200

export function createAudit({ notes, now = Date.now, retentionMs, failed = () => {} }: AuditParts): Audit {
  let waiting: AuditEntry[] = []
  let lost = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> | undefined

  function record(entry: AuditEntry): void {
    if (waiting.length >= mostWaiting) lost += waiting.splice(0, mostTogether).length
    waiting.push(entry)
    if (isSecurity(entry) || waiting.length >= mostTogether) void flush()
    else timer ??= setTimeout(() => void flush(), everyMs).unref()
  }

  /** One write at a time: what comes meanwhile goes with the next, however many there are. */
  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (writing !== undefined) {
      await writing
      if (waiting.length > 0) await flush()
      return
    }
    if (waiting.length === 0) return
    writing = writeAll().finally(() => (writing = undefined))
    await writing
  }

  async function writeAll(): Promise<void> {
    if (lost > 0) waiting.push({ at: now(), event: 'audit.lost', count: lost })
    const batch = waiting
    waiting = []
    const expiresAt = now() + retentionMs
    const together = chunks(batch).map((entries) => ({
      key: newId(),
      value: entries as unknown as Json,
      expiresAt,
    }))
    try {
      await notes.writeAll(kind, together)
      lost = 0
    } catch (cause) {
      waiting = [...batch.filter(({ event }) => event !== 'audit.lost'), ...waiting]
      timer ??= setTimeout(() => void flush(), everyMs).unref()
      failed(cause)
    }
  }

  return {
    record,
    flush,
    async list({ limit, before, matches = () => true, since = 0 }) {
      await flush()
      const from = readPlace(before)
      const entries: FoundEntry[] = []
      let searched = 0
      let after = from?.note
      // The rest of the note that the page before ended in.
      const begun = from === undefined || from.rest === 0 ? undefined : await notes.read(kind, from.note)
      let found = begun === undefined ? [] : [{ ...begun, value: (begun.value as Json[]).slice(0, from?.rest) }]
      for (;;) {
        for (const { key, value } of found) {
          const held = value as unknown as readonly AuditEntry[]
          // Notes are in the order of their last entries, so all that follow are older still.
          if ((held.at(-1)?.at ?? since) < since) return { entries }
          for (let index = held.length - 1; index >= 0; index--) {
            const entry = held[index] as AuditEntry
            if (entry.at < since || !matches(entry)) continue
            entries.push({ ...entry, id: `${key}.${index}` })
            if (entries.length === limit) return { entries, before: `${key}.${index}` }
          }
          after = key
          searched += 1
        }
        if (searched >= mostSearched && after !== undefined) return { entries, before: `${after}.0` }
        found = [
          ...(await notes.list(kind, { descending: true, limit: 20, ...(after !== undefined ? { after } : {}) })),
        ] as typeof found
        if (found.length === 0) return { entries }
      }
    },
    async close() {
      await flush()
      clearTimeout(timer)
    },
  }
}

function chunks(entries: readonly AuditEntry[]): readonly (readonly AuditEntry[])[] {
  const made: (readonly AuditEntry[])[] = []
  for (let at = 0; at < entries.length; at += mostTogether) made.push(entries.slice(at, at + mostTogether))
  return made
}

interface Place {
  readonly note: string
  /** How many entries of that note come before. */
  readonly rest: number
}

function readPlace(before: string | undefined): Place | undefined {
  const [, note, rest] = /^([0-9a-f-]{36})\.(\d{1,6})$/.exec(before ?? '') ?? []
  return note === undefined ? undefined : { note, rest: Number(rest) }
}
