/**
 * One value that a view shows: loaded once and reloaded when the change feed reports a change; never modified locally. The
 * previous value stays visible while it reloads, and after a reload fails.
 */
import { signal, type ReadonlySignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks'
import { subscribeToChanges, type Change } from './change-feed.ts'
import { isProblem, toProblem, type Problem } from './problem.ts'

export interface Resource<T> {
  readonly value: ReadonlySignal<T | undefined>
  readonly problem: ReadonlySignal<Problem | undefined>
  readonly isLoading: ReadonlySignal<boolean>
  reload(): void
}

/** Changes within this time cause one reload. */
const settleMs = 150
const retryMs = 1_500

export function createResource<T>(load: (signal: AbortSignal) => Promise<T>): Resource<T> & { close(): void } {
  const value = signal<T | undefined>(undefined)
  const problem = signal<Problem | undefined>(undefined)
  const isLoading = signal(false)
  let running: AbortController | undefined
  let refreshTimer: ReturnType<typeof setTimeout> | undefined
  /** Something changed during the current reload. */
  let isStale = false
  let isClosed = false

  async function refresh(): Promise<void> {
    refreshTimer = undefined
    isStale = false
    const controller = new AbortController()
    running = controller
    isLoading.value = true
    try {
      const found = await load(controller.signal)
      if (controller.signal.aborted) return
      value.value = found
      problem.value = undefined
    } catch (reason) {
      if (controller.signal.aborted) return
      problem.value = toProblem(reason)
    }
    running = undefined
    isLoading.value = false
    if (isProblem(problem.value, 'UNREACHABLE', 'UNAVAILABLE')) scheduleRefresh(retryMs)
    else if (isStale) scheduleRefresh(settleMs)
  }

  // A scheduled or running reload is not postponed: under continuous changes, nothing would ever be shown.
  function scheduleRefresh(ms: number): void {
    if (isClosed) return
    if (running !== undefined) isStale = true
    else refreshTimer ??= setTimeout(() => void refresh(), ms)
  }

  void refresh()
  return {
    value,
    problem,
    isLoading,
    reload: () => scheduleRefresh(settleMs),
    close() {
      isClosed = true
      clearTimeout(refreshTimer)
      running?.abort()
    },
  }
}

/** Loads again when `key` changes, and on the changes that `isAffectedBy` selects. */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  isAffectedBy: (change: Change) => boolean = () => false,
): Resource<T> {
  const resource = useMemo(() => createResource(load), [key])
  useEffect(() => {
    const stop = subscribeToChanges((change) => {
      if (change.type === 'reset' || isAffectedBy(change)) resource.reload()
    })
    return () => {
      stop()
      resource.close()
    }
  }, [resource])
  return resource
}

interface SharedResource {
  readonly resource: ReturnType<typeof createResource<unknown>>
  users: number
  /** The changes that had been reported when it was loaded. */
  changesBefore: number
}

const sharedResources = new Map<string, SharedResource>()
let changeCount = 0
subscribeToChanges(() => void (changeCount += 1))

/** Like `useResource`. Views that are open at the same time and have the same `key` load it once and share its value. */
export function useSharedResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  isAffectedBy: (change: Change) => boolean,
): Resource<T> {
  const shared = useMemo(() => {
    const known = sharedResources.get(key)
    if (known !== undefined) return known
    const resource = createResource<unknown>(load)
    const created = { resource, users: 0, changesBefore: changeCount }
    sharedResources.set(key, created)
    return created
  }, [key])
  useLayoutEffect(() => {
    shared.users += 1
    // The users before may have ignored a change that affects this one.
    if (shared.changesBefore !== changeCount) shared.resource.reload()
    shared.changesBefore = changeCount
    const stop = subscribeToChanges((change) => {
      if (change.type === 'reset' || isAffectedBy(change)) shared.resource.reload()
    })
    return () => {
      stop()
      shared.users -= 1
      // A page that opens now may use it, too.
      setTimeout(() => {
        if (shared.users > 0 || sharedResources.get(key) !== shared) return
        sharedResources.delete(key)
        shared.resource.close()
      })
    }
  }, [shared])
  return shared.resource as Resource<T>
}

/** The current time, updated periodically, for relative times. */
const currentTime = signal(Date.now())
setInterval(() => (currentTime.value = Date.now()), 1_000)
export const now: ReadonlySignal<number> = currentTime
