/**
 * Pages of logs, read from the store for readers that are behind. All readers at the same position of a task share one read and one
 * copy: a thousand readers that start at the beginning of a long log cost one page. A page is bounded by bytes. Pages are cached
 * for a second, and the cache as a whole is bounded too. Large events are shared for as long as a reader holds them: a hundred silent
 * readers of 8 MB that came one by one held a hundred copies.
 */
import { CallerQueue, heavyStep } from '../../model/heavy-step.ts'
import type { StreamEvent } from '../../model/task.ts'
import type { TaskStore } from '../../stores/store.ts'
import { recordBytes } from '../../model/json-nodes.ts'
import type { LogPageCounts } from '../contract.ts'
import { type LogEvent, logEventOf } from './fold.ts'
import type { LoadedTask } from './loaded-task.ts'

export interface LogPage {
  /** The visible events, in order. */
  readonly events: readonly LogEvent[]
  /** The seq of the last record, visible or not; `undefined` if there was none. */
  readonly lastSeq: number | undefined
}

export interface LogPages extends LogPageCounts {
  /** The events after a seq. */
  after(loaded: LoadedTask, seq: number): Promise<LogPage>
  /** The same for a reader that takes a part of a page at a time, such as a webhook: also from the middle of a cached page. */
  within(loaded: LoadedTask, seq: number): Promise<LogPage>
}

/** Bounds of one read: large enough for a query, small enough to hold for a reader that has stopped. */
const pageRecords = 1_000
const pageBytes = 256_000
/** Bounds of the cache, for readers that reach the same position. */
const cacheBytes = 16_000_000
const cacheMs = 1_000
/** Concurrent reads: each may return one event of the largest size. Owners of tasks take turns for them. */
const maxReads = 16

const largeEventBytes = 32_768
/** Of one task. Readers that begin together share their pages; those that choose many positions would add a page for each. */
const maxHeldPages = 32

/** A page without its events, which are collected with their last reader. */
interface HeldPage {
  readonly lastSeq: number | undefined
  readonly events: readonly (Omit<LogEvent, 'event'> & { readonly event: WeakRef<StreamEvent> })[]
}

interface CachedPage {
  readonly loaded: LoadedTask
  readonly fromSeq: number
  /** 0 until it was read. */
  lastSeq: number
  readonly page: Promise<LogPage>
  readonly counted: { bytes: number }
  timer: ReturnType<typeof setTimeout> | undefined
}

export function createLogPages(tasks: Pick<TaskStore, 'read'>): LogPages {
  const cache = new Map<string, CachedPage>()
  /** By the seq that they begin after. */
  const heldPages = new WeakMap<LoadedTask, Map<number, HeldPage>>()
  const queued = new CallerQueue()
  let total = 0
  let reading = 0
  let read = 0
  let shared = 0

  return {
    after,
    async within(loaded, seq) {
      for (const cached of cache.values()) {
        if (cached.loaded !== loaded || seq < cached.fromSeq || seq >= cached.lastSeq) continue
        const { events, lastSeq } = await cached.page
        return { events: events.filter((event) => event.seq > seq), lastSeq }
      }
      return after(loaded, seq)
    },
    get read() {
      return read
    },
    get shared() {
      return shared
    },
  }

  function after(loaded: LoadedTask, seq: number): Promise<LogPage> {
    const key = `${seq} ${loaded.id}`
    const known = cache.get(key)
    if (known?.loaded === loaded) {
      shared += 1
      return known.page
    }
    const held = findHeld(loaded, seq)
    if (held !== undefined) {
      shared += 1
      return Promise.resolve(held)
    }
    read += 1
    const counted = { bytes: 0 }
    const page = inTurn(loaded.partition.owner, () => readPage(loaded, seq, counted))
    const made: CachedPage = { loaded, fromSeq: seq, lastSeq: 0, page, counted, timer: undefined }
    if (known !== undefined) drop(key, known)
    cache.set(key, made)
    page.then(
      (whole) => {
        made.lastSeq = whole.lastSeq ?? 0
        rememberHeld(loaded, seq, whole)
        if (whole.lastSeq === undefined) drop(key, made)
        else keep(key, made)
      },
      () => drop(key, made),
    )
    return page
  }

  async function readPage(loaded: LoadedTask, seq: number, counted: { bytes: number }): Promise<LogPage> {
    const nextStep = (): Promise<void> => heavyStep(loaded.partition.owner)
    const records = await tasks.read(loaded.id, seq, pageRecords, pageBytes, nextStep)
    const events: LogEvent[] = []
    for (const record of records) {
      const bytes = recordBytes(record.body)
      counted.bytes += bytes
      const event = logEventOf(loaded.fold, record, bytes)
      if (event !== undefined) events.push(event)
    }
    return { events, lastSeq: records.at(-1)?.seq }
  }

  async function inTurn(owner: string, run: () => Promise<LogPage>): Promise<LogPage> {
    if (reading >= maxReads) await new Promise<void>((resolve) => queued.push(owner, resolve))
    else reading += 1
    try {
      return await run()
    } finally {
      const next = queued.take()
      if (next === undefined) reading -= 1
      else next()
    }
  }

  /** Remembers a page with a large event without keeping it in memory. */
  function rememberHeld(loaded: LoadedTask, seq: number, { events, lastSeq }: LogPage): void {
    if (!events.some(({ bytes }) => bytes > largeEventBytes)) return
    let pages = heldPages.get(loaded)
    if (pages === undefined) heldPages.set(loaded, (pages = new Map<number, HeldPage>()))
    pages.delete(seq)
    pages.set(seq, { lastSeq, events: events.map((one) => ({ ...one, event: new WeakRef(one.event) })) })
    const [oldest = seq] = pages.keys()
    if (pages.size > maxHeldPages) pages.delete(oldest)
  }

  /** The page, if readers still hold all of its events. */
  function findHeld(loaded: LoadedTask, seq: number): LogPage | undefined {
    const held = heldPages.get(loaded)?.get(seq)
    if (held === undefined) return undefined
    const events: LogEvent[] = []
    for (const one of held.events) {
      const event = one.event.deref()
      if (event === undefined) return undefined
      events.push({ ...one, event })
    }
    return { events, lastSeq: held.lastSeq }
  }

  function keep(key: string, page: CachedPage): void {
    total += page.counted.bytes
    page.timer = setTimeout(() => drop(key, page), cacheMs)
    // The oldest are dropped first. A page larger than the whole cache is shared only while it is being read.
    for (const [oldest, one] of cache) {
      if (total <= cacheBytes) return
      if (one.timer !== undefined) drop(oldest, one)
    }
  }

  function drop(key: string, page: CachedPage): void {
    if (cache.get(key) !== page) return
    cache.delete(key)
    if (page.timer === undefined) return
    clearTimeout(page.timer)
    total -= page.counted.bytes
  }
}
