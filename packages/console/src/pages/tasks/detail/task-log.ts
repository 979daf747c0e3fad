/** The log of one task: loaded page by page, and as it grows. Records never change, so only new ones are loaded. */
import { signal, type ReadonlySignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { LogRecord } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { subscribeToChanges } from '../../../api/change-feed.ts'
import { isProblem, toProblem, type Problem } from '../../../api/problem.ts'

export interface TaskLog {
  readonly events: ReadonlySignal<readonly LogRecord[]>
  /** Seq of the last event, loaded or not. */
  readonly head: ReadonlySignal<number>
  /** Everything up to the head is loaded. */
  readonly isComplete: ReadonlySignal<boolean>
  /** Whether the log starts with the first event. Otherwise the beginning was dropped, and only the resulting task is known. */
  readonly isFromStart: ReadonlySignal<boolean>
  readonly problem: ReadonlySignal<Problem | undefined>
  retry(): void
}

const pageSize = 1_000
const retryMs = 1_500

export function createTaskLog(taskId: string): TaskLog & { grow(): void; close(): void } {
  const events = signal<readonly LogRecord[]>([])
  const head = signal(0)
  const isComplete = signal(false)
  const isFromStart = signal(true)
  const problem = signal<Problem | undefined>(undefined)
  const closing = new AbortController()
  let isBusy = false
  /** New events arrived while a page was loading. */
  let isReloadNeeded = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function load(): Promise<void> {
    if (isBusy) return void (isReloadNeeded = true)
    isBusy = true
    try {
      do {
        isReloadNeeded = false
        await loadPage()
      } while (!isComplete.value || isReloadNeeded)
      problem.value = undefined
    } catch (reason) {
      if (!closing.signal.aborted) {
        problem.value = toProblem(reason)
        if (isProblem(reason, 'UNREACHABLE', 'UNAVAILABLE')) timer = setTimeout(() => void load(), retryMs)
      }
    }
    isBusy = false
  }

  async function loadPage(): Promise<void> {
    const after = events.value.at(-1)?.seq ?? 0
    const page = await callAdmin('listTaskEvents', {
      params: { taskId },
      query: { limit: pageSize, after },
      signal: closing.signal,
    })
    if (page.events.length > 0) events.value = [...events.value, ...page.events]
    head.value = page.head
    isFromStart.value = page.firstSeq <= 1
    isComplete.value = page.after === undefined
  }

  void load()
  return {
    events,
    head,
    isComplete,
    isFromStart,
    problem,
    retry: () => void load(),
    grow: () => void load(),
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}

export function useTaskLog(taskId: string): TaskLog {
  const log = useMemo(() => createTaskLog(taskId), [taskId])
  useEffect(() => {
    const stop = subscribeToChanges((change) => {
      if (change.type === 'tasks' || change.type === 'reset') return log.grow()
      if (change.type === 'task' && change.task.id === taskId && change.task.head > log.head.peek()) log.grow()
    })
    return () => {
      stop()
      log.close()
    }
  }, [log])
  return log
}
