/**
 * Pages of logs, read from the store for readers that are behind. All readers at the same position of a task share one read
 * and one copy: a thousand that begin at the start of a long log cost one page. A page is bounded by bytes. Pages are cached
 * for a second, and all of them together are bounded too.
 */
import type { Store } from '../stores/store.ts'
import { recordBytes } from '../model/json-bytes.ts'
import type { PageCounts } from './contract.ts'
import { eventOf } from './event-of.ts'
import type { TailEvent } from './event-of.ts'
import { traceAt } from './fold.ts'
import { later } from './later.ts'
import type { Wait } from './later.ts'
import type { Live } from './live.ts'

export interface LogPage {
  /** The visible events, in order. */
  readonly events: readonly TailEvent[]
  /** Of the last record, visible or not; `undefined` if there was none. */
  readonly lastSeq: number | undefined
}

export interface LogPages extends PageCounts {
  /** The events after a seq. */
  after(live: Live, seq: number): Promise<LogPage>
}

/** Bounds of one read: enough to make it worth a query, little enough to hold for a reader that has stopped. */
const pageRecords = 1_000
const pageBytes = 256_000
/** Bounds of the cache, for readers that reach the same position. */
const keptBytes = 16_000_000
const keptMs = 1_000
/** Concurrent reads: each may return one event of the largest size. */
const maxReads = 16

interface CachedPage {
  readonly live: Live
  readonly page: Promise<LogPage>
  readonly counted: { bytes: number }
  wait: Wait | undefined
}

export function createLogPages(store: Pick<Store, 'read'>): LogPages {
  const kept = new Map<string, CachedPage>()
  const queued: (() => void)[] = []
  let total = 0
  let reading = 0
  let read = 0
  let shared = 0

  return {
    after(live, seq) {
      const key = `${seq} ${live.id}`
      const known = kept.get(key)
      if (known?.live === live) {
        shared += 1
        return known.page
      }
      read += 1
      const counted = { bytes: 0 }
      const page = inTurn(() => readPage(live, seq, counted))
      const made: CachedPage = { live, page, counted, wait: undefined }
      if (known !== undefined) drop(key, known)
      kept.set(key, made)
      page.then(
        ({ lastSeq }) => (lastSeq === undefined ? drop(key, made) : keep(key, made)),
        () => drop(key, made),
      )
      return page
    },
    get read() {
      return read
    },
    get shared() {
      return shared
    },
  }

  async function readPage(live: Live, seq: number, counted: { bytes: number }): Promise<LogPage> {
    const records = await store.read(live.id, seq, pageRecords, pageBytes)
    const events: TailEvent[] = []
    for (const { seq: at, at: loggedAt, body } of records) {
      const bytes = recordBytes(body)
      counted.bytes += bytes
      const event = eventOf(live.id, live.fold.contextId, body)
      if (event === undefined) continue
      events.push({ seq: at, event, final: false, at: loggedAt, traceparent: traceAt(live.fold, at), bytes })
    }
    return { events, lastSeq: records.at(-1)?.seq }
  }

  async function inTurn(run: () => Promise<LogPage>): Promise<LogPage> {
    if (reading >= maxReads) await new Promise<void>((resolve) => queued.push(resolve))
    else reading += 1
    try {
      return await run()
    } finally {
      const next = queued.shift()
      if (next === undefined) reading -= 1
      else next()
    }
  }

  function keep(key: string, page: CachedPage): void {
    total += page.counted.bytes
    page.wait = later(keptMs, () => drop(key, page))
    // The oldest are dropped first. A page larger than the whole cache is shared only while it is being read.
    for (const [oldest, one] of kept) {
      if (total <= keptBytes) return
      if (one.wait !== undefined) drop(oldest, one)
    }
  }

  function drop(key: string, page: CachedPage): void {
    if (kept.get(key) !== page) return
    kept.delete(key)
    if (page.wait === undefined) return
    page.wait.cancel()
    total -= page.counted.bytes
  }
}
