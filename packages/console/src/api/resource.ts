/**
 * One thing that is shown: loaded once, looked at again when the stream of changes says so, never changed by hand. What was
 * there stays to be seen while it is looked at again, and after that failed.
 */
import { signal, useSignal, useSignalEffect } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { onChange } from './feed.ts'
import type { Change } from './feed.ts'
import { isProblem, problemOf } from './problem.ts'
import type { Problem } from './problem.ts'

export interface Resource<T> {
  readonly value: ReadonlySignal<T | undefined>
  readonly problem: ReadonlySignal<Problem | undefined>
  readonly isLoading: ReadonlySignal<boolean>
  reload(): void
}

/** Many changes within a moment are one look. */
const settleMs = 150
const retryMs = 1_500

export function createResource<T>(load: (signal: AbortSignal) => Promise<T>): Resource<T> & { close(): void } {
  const value = signal<T | undefined>(undefined)
  const problem = signal<Problem | undefined>(undefined)
  const isLoading = signal(false)
  let running: AbortController | undefined
  let again: ReturnType<typeof setTimeout> | undefined
  /** Something changed while it was looked at. */
  let isStale = false
  let isClosed = false

  async function look(): Promise<void> {
    again = undefined
    isStale = false
    const mine = new AbortController()
    running = mine
    isLoading.value = true
    try {
      const found = await load(mine.signal)
      if (mine.signal.aborted) return
      value.value = found
      problem.value = undefined
    } catch (reason) {
      if (mine.signal.aborted) return
      problem.value = problemOf(reason)
    }
    running = undefined
    isLoading.value = false
    if (isProblem(problem.value, 'UNREACHABLE', 'UNAVAILABLE')) later(retryMs)
    else if (isStale) later(settleMs)
  }

  // A look that is due or on its way is not put off: where changes never stop, none would ever be shown.
  function later(ms: number): void {
    if (isClosed) return
    if (running !== undefined) isStale = true
    else again ??= setTimeout(() => void look(), ms)
  }

  void look()
  return {
    value,
    problem,
    isLoading,
    reload: () => later(settleMs),
    close() {
      isClosed = true
      clearTimeout(again)
      running?.abort()
    },
  }
}

/** Loaded anew when `key` is another one; looked at again on the changes that `concerns` picks. */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  concerns: (change: Change) => boolean = () => false,
): Resource<T> {
  const resource = useMemo(() => createResource(load), [key])
  useEffect(() => {
    const stop = onChange((change) => {
      if (change.type === 'reset' || concerns(change)) resource.reload()
    })
    return () => {
      stop()
      resource.close()
    }
  }, [resource])
  return resource
}

/** The time, told again every so often, for what shows how long ago something was. */
const clock = signal(Date.now())
setInterval(() => (clock.value = Date.now()), 1_000)
export const now: ReadonlySignal<number> = clock

export { useSignal, useSignalEffect }
