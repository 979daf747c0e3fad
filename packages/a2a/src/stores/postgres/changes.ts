/**
 * Waiting for a log to grow, for any number of readers. Nobody asks the database for themselves: a waiter is woken by an
 * append of this process, by what another replica tells, or by one look at all tasks that are waited for.
 *
 * The newest head that is known is remembered, so that whoever waits on from there need not ask first. It is forgotten as
 * soon as somebody tells of a change; and what was read while somebody told is not remembered at all. A database may also
 * come back with less than it had, after a failover: an answer to a question asked later than what is known counts more.
 */
import { createWaiters } from '../waiters.ts'
import type { Database } from './database.ts'
import { gather } from './gather.ts'

const maxHeads = 50_000
/** Ids in one question. */
const perLook = 1_000

export interface ChangesParts {
  readonly database: Database
  readonly schema: string
  /** How long until the next look; asked each time. */
  pollMs(): number
}

/** What was learnt since this was made counts only for tasks of which nobody told meanwhile. */
export interface Watch {
  learned(id: string, head: number): void
  end(): void
}

export type Changes = ReturnType<typeof createChanges>

export function createChanges({ database, schema, pollMs }: ChangesParts) {
  const look = `SELECT id, head FROM ${schema}.heads_1($1)`
  const waiters = createWaiters()
  const heads = new Map<string, { readonly head: number; readonly learntAt: number }>()
  /** Counts the questions. */
  let time = 0
  const watches = new Set<{ all: boolean; readonly ids: Set<string> }>()
  const headOf = gather(headsOf, perLook)
  let timer: ReturnType<typeof setTimeout> | undefined
  let isLooking = false
  let mustLook = false
  let closed = false

  async function headsOf(ids: readonly string[]): Promise<readonly number[]> {
    const rows = await database.ask<{ id: string; head: unknown }>(look, ids)
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

  function watch(): Watch {
    const watching = { all: false, ids: new Set<string>() }
    watches.add(watching)
    const askedAt = (time += 1)
    return {
      learned: (id, head) => {
        if (!watching.all && !watching.ids.has(id)) remember(id, head, askedAt)
      },
      end: () => void watches.delete(watching),
    }
  }

  function planLook(): void {
    if (closed || timer !== undefined) return
    timer = setTimeout(() => {
      timer = undefined
      void lookAtAll().finally(() => {
        if (waiters.size > 0) planLook()
      })
    }, pollMs())
    timer.unref()
  }

  /** One look at a time; whoever asks for one meanwhile gets the next. */
  async function lookAtAll(): Promise<void> {
    mustLook = true
    if (isLooking) return
    isLooking = true
    while (mustLook && !closed) {
      mustLook = false
      const watching = watch()
      // A database that does not answer is looked at again later: those who wait can go on waiting.
      await Promise.all([...waiters.ids()].map((id) => lookAt(id, watching))).catch(() => {})
      watching.end()
    }
    isLooking = false
  }

  async function lookAt(id: string, watching: Watch): Promise<void> {
    const before = heads.get(id)?.head
    const head = await headOf(id)
    watching.learned(id, head)
    if (head !== before) waiters.wake(id)
  }

  return {
    async changed(id: string, afterSeq: number, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return
      const known = heads.get(id)?.head
      if (known !== undefined && known > afterSeq) return
      const woken = waiters.wait(id, signal)
      planLook()
      if (known !== afterSeq) {
        // Registered first: what is told while the question is under way wakes this one too.
        const watching = watch()
        const head = await headOf(id).catch(() => undefined)
        if (head !== undefined) watching.learned(id, head)
        watching.end()
        // Also where it is shorter than the one who waits believes: they have to know.
        if (head !== undefined && head !== afterSeq) waiters.wake(id)
      }
      return woken
    },
    watch,
    /** This process has appended. Later, so that whoever appended has taken it in and need not read it. */
    appended(ids: readonly string[]): void {
      if (waiters.size > 0) setImmediate(() => ids.forEach((id) => waiters.wake(id)))
    },
    /** Another replica has appended: to these, or to some. */
    heard(ids: readonly string[] | undefined): void {
      for (const watch of watches) {
        if (ids === undefined) watch.all = true
        else for (const id of ids) watch.ids.add(id)
      }
      if (ids === undefined) {
        const waited = new Set(waiters.ids())
        for (const id of heads.keys()) if (!waited.has(id)) heads.delete(id)
        void lookAtAll()
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
