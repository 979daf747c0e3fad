/**
 * Waits for logs to grow, for any number of readers. No reader queries the database by itself: an append of this process, a
 * notification of another replica, or one query for all tasks with waiters wakes a waiter.
 *
 * The newest known head is remembered, so that a reader that waits from there need not query first. A notification of a change
 * clears it, and a head that was read during a notification is not remembered at all. After a failover a database may hold less
 * than before: the result of a later query overrides what is known.
 */
import { createChangeWaiters } from '../change-waiters.ts'
import type { PostgresDatabase } from './database.ts'
import { batchRequests } from './request-batching.ts'

const maxHeads = 50_000
/** Ids per query. */
const idsPerQuery = 1_000

export interface ChangeWatcherDeps {
  readonly database: PostgresDatabase
  readonly schema: string
  /** The time until the next query; called each time. */
  pollMs(): number
}

/** Heads read since its creation count only for tasks without a notification meanwhile. */
export interface HeadWatch {
  recordHead(id: string, head: number): void
  end(): void
}

export type ChangeWatcher = ReturnType<typeof createChangeWatcher>

export function createChangeWatcher({ database, schema, pollMs }: ChangeWatcherDeps) {
  const headsQuery = `SELECT id, head FROM ${schema}.heads_1($1)`
  const waiters = createChangeWaiters()
  const heads = new Map<string, { readonly head: number; readonly learntAt: number }>()
  /** Counts the queries. */
  let time = 0
  const watches = new Set<{ all: boolean; readonly ids: Set<string> }>()
  const headOf = batchRequests(headsOf, idsPerQuery)
  let timer: ReturnType<typeof setTimeout> | undefined
  let isRefreshing = false
  let mustRefresh = false
  let closed = false

  async function headsOf(ids: readonly string[]): Promise<readonly number[]> {
    const rows = await database.queryWithRetry<{ id: string; head: unknown }>(headsQuery, ids)
    const found = new Map(rows.map(({ id, head }) => [id, Number(head)]))
    return ids.map((id) => found.get(id) ?? 0)
  }

  function remember(id: string, head: number, askedAt: number): void {
    const known = heads.get(id)
    if (known !== undefined && known.head > head && known.learntAt >= askedAt) return
    heads.delete(id)
    heads.set(id, { head, learntAt: time })
    if (heads.size > maxHeads) heads.delete(heads.keys().next().value as string)
  }

  function watch(): HeadWatch {
    const watching = { all: false, ids: new Set<string>() }
    watches.add(watching)
    const askedAt = (time += 1)
    return {
      recordHead: (id, head) => {
        if (!watching.all && !watching.ids.has(id)) remember(id, head, askedAt)
      },
      end: () => void watches.delete(watching),
    }
  }

  function scheduleRefresh(): void {
    if (closed || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      void refreshHeads().finally(() => {
        if (waiters.size > 0) scheduleRefresh()
      })
    }, pollMs())
    timer.unref()
  }

  /** One query at a time; a request during a query gets the next one. */
  async function refreshHeads(): Promise<void> {
    mustRefresh = true
    if (isRefreshing) return
    isRefreshing = true
    while (mustRefresh && !closed) {
      mustRefresh = false
      const watching = watch()
      // A database that does not respond is queried again later: waiters can keep waiting.
      await Promise.all([...waiters.ids()].map((id) => refreshHead(id, watching))).catch(() => {})
      watching.end()
    }
    isRefreshing = false
  }

  async function refreshHead(id: string, watching: HeadWatch): Promise<void> {
    const before = heads.get(id)?.head
    const head = await headOf(id)
    watching.recordHead(id, head)
    if (head !== before) waiters.wake(id)
  }

  return {
    async changed(id: string, afterSeq: number, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return
      const known = heads.get(id)?.head
      if (known !== undefined && known > afterSeq) return
      const woken = waiters.wait(id, signal)
      scheduleRefresh()
      if (known !== afterSeq) {
        // Register first: a notification during the query wakes this waiter too.
        const watching = watch()
        const head = await headOf(id).catch(() => undefined)
        if (head !== undefined) watching.recordHead(id, head)
        watching.end()
        // Also if the log is shorter than the waiter believes: it has to know.
        if (head !== undefined && head !== afterSeq) waiters.wake(id)
      }
      return woken
    },
    watch,
    /** This process has appended. Deferred, so that the writer has applied its own append and need not read it. */
    appended(ids: readonly string[]): void {
      if (waiters.size > 0) setImmediate(() => ids.forEach((id) => waiters.wake(id)))
    },
    /** Another replica has appended to these tasks; `undefined`: to unknown ones. */
    heard(ids: readonly string[] | undefined): void {
      for (const watch of watches) {
        if (ids === undefined) watch.all = true
        else for (const id of ids) watch.ids.add(id)
      }
      if (ids === undefined) {
        const waited = new Set(waiters.ids())
        for (const id of heads.keys()) if (!waited.has(id)) heads.delete(id)
        void refreshHeads()
        return
      }
      for (const id of ids) {
        heads.delete(id)
        waiters.wake(id)
      }
    },
    close(): void {
      closed = true
      clearTimeout(timer)
      waiters.wakeAll()
    },
  }
}
