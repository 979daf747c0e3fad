/**
 * The listed tasks: loaded page by page as the user scrolls, updated by the change feed. While the user reads further down, rows
 * are updated in place and new tasks are held back; at the top, all rows are in order.
 */
import { computed, signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { TaskSummary } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import type { Change } from '../../../api/change-feed.ts'
import { isProblem, toProblem } from '../../../api/problem.ts'
import type { Problem } from '../../../api/problem.ts'
import { mergeTasks, newerTask, updateTaskInPlace } from './merge-tasks.ts'
import { taskListQuery, matchTaskFilters } from './task-filters.ts'
import type { TaskFilters } from './task-filters.ts'

export interface TaskListStore {
  readonly tasks: ReadonlySignal<readonly TaskSummary[]>
  /** The number of new tasks that are held back until the user is at the top again. */
  readonly newCount: ReadonlySignal<number>
  readonly isLoading: ReadonlySignal<boolean>
  readonly problem: ReadonlySignal<Problem | undefined>
  /** All matching tasks are loaded. */
  readonly isComplete: ReadonlySignal<boolean>
  /** The search paused after many pages without a match; the user decides whether to continue. */
  readonly isSearchPaused: ReadonlySignal<boolean>
  /** Loads the next page. */
  loadMore(): void
  continueSearch(): void
  /** Whether the user reads further down. */
  setReading(isReading: boolean): void
  applyChange(change: Change): void
  retry(): void
  close(): void
}

/** Small, so that the first page loads quickly; later pages are larger. */
const firstPageSize = 100
const nextPageSize = 500
const settleMs = 150
const retryMs = 1_500
/** The number of pages without a match, a thousand tasks each, after which the search pauses. */
const maxEmptyPages = 10

export function createTaskListStore(filters: TaskFilters): TaskListStore {
  // "The last hour" stays the same for every page.
  const baseQuery = taskListQuery(filters, Date.now())
  const tasks = signal<readonly TaskSummary[]>([])
  const arrived = signal<ReadonlyMap<string, TaskSummary>>(new Map())
  const newCount = computed(() => arrived.value.size)
  const isLoading = signal(true)
  const problem = signal<Problem | undefined>(undefined)
  const isComplete = signal(false)
  const isSearchPaused = signal(false)
  const closing = new AbortController()
  let before: string | undefined
  let isReading = false
  /** Not all changes were reported: at the top, everything is reloaded. */
  let isStale = false
  let isBusy = false
  let headTimer: ReturnType<typeof setTimeout> | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined

  async function next(): Promise<void> {
    if (isBusy || isComplete.value || closing.signal.aborted) return
    isBusy = true
    isLoading.value = true
    await attempt(async () => {
      for (let empty = 0; ; empty += 1) {
        const page = await fetchPage(before)
        before = page.before
        isComplete.value = page.before === undefined
        tasks.value = mergeTasks(tasks.value, page.tasks)
        if (page.tasks.length > 0 || isComplete.value) return
        if (empty + 1 === maxEmptyPages) return void (isSearchPaused.value = true)
      }
    }, next)
    isBusy = false
    isLoading.value = false
  }

  /** Loads the newest page and merges it. */
  async function refreshHead(): Promise<void> {
    if (isBusy) return scheduleHeadRefresh()
    await attempt(async () => {
      const page = await fetchPage(undefined)
      const known = new Set(tasks.value.map(({ id }) => id))
      if (isReading) {
        const fresh = page.tasks.filter(({ id }) => !known.has(id)).map((task) => [task.id, task] as const)
        arrived.value = new Map([...arrived.value, ...fresh])
        for (const task of page.tasks) tasks.value = updateTaskInPlace(tasks.value, task)
      } else if (isStale || !page.tasks.some(({ id }) => known.has(id))) {
        isStale = false
        replace(page)
      } else {
        tasks.value = mergeTasks(tasks.value, page.tasks)
      }
    }, refreshHead)
  }

  function replace(page: { readonly tasks: readonly TaskSummary[]; readonly before?: string }): void {
    const titles = new Map(tasks.value.map((task) => [task.id, task]))
    before = page.before
    isComplete.value = page.before === undefined
    isSearchPaused.value = false
    tasks.value = page.tasks.map((task) => newerTask(titles.get(task.id), task))
  }

  function fetchPage(from: string | undefined) {
    const query = {
      ...baseQuery,
      ...(from === undefined ? { limit: firstPageSize } : { limit: nextPageSize, before: from }),
    }
    return callAdmin('listTasks', { query, signal: closing.signal })
  }

  async function attempt(work: () => Promise<void>, again: () => Promise<void>): Promise<void> {
    try {
      await work()
      problem.value = undefined
    } catch (reason) {
      if (closing.signal.aborted) return
      problem.value = toProblem(reason)
      if (isProblem(reason, 'UNREACHABLE', 'UNAVAILABLE')) {
        clearTimeout(retryTimer)
        retryTimer = setTimeout(() => void again(), retryMs)
      }
    }
  }

  /** The first of many changes sets the timer, so that a busy hub cannot postpone it forever. */
  function scheduleHeadRefresh(): void {
    headTimer ??= setTimeout(() => {
      headTimer = undefined
      if (!closing.signal.aborted) void refreshHead()
    }, settleMs)
  }

  function applyTask(update: TaskSummary): void {
    const fit = matchTaskFilters(filters, update, Date.now())
    const known = tasks.value.find(({ id }) => id === update.id)
    if (known !== undefined && isReading) {
      tasks.value = updateTaskInPlace(tasks.value, update)
    } else if (fit === 'no') {
      tasks.value = tasks.value.filter(({ id }) => id !== update.id)
      dropArrived(update.id)
    } else if (known !== undefined) {
      tasks.value = mergeTasks(tasks.value, [update])
    } else if (fit === 'ask' || update.title === undefined) {
      // An old task of another caller, or one whose text the page does not have: the hub decides whether it is listed.
      scheduleHeadRefresh()
    } else if (isReading) {
      arrived.value = new Map([...arrived.value, [update.id, newerTask(arrived.value.get(update.id), update)]])
    } else {
      tasks.value = mergeTasks(tasks.value, [update])
    }
  }

  function dropArrived(id: string): void {
    if (!arrived.value.has(id)) return
    arrived.value = new Map([...arrived.value].filter(([one]) => one !== id))
  }

  void next()
  return {
    tasks,
    newCount,
    isLoading,
    problem,
    isComplete,
    isSearchPaused,
    loadMore: () => {
      if (!isSearchPaused.value && problem.value === undefined) void next()
    },
    continueSearch() {
      isSearchPaused.value = false
      void next()
    },
    setReading(reading) {
      if (isReading === reading) return
      isReading = reading
      if (reading) return
      // Tasks that changed while the user was reading may no longer match, or have moved.
      const now = Date.now()
      const kept = tasks.value.filter((task) => matchTaskFilters(filters, task, now) !== 'no')
      tasks.value = mergeTasks(kept, arrived.value.values())
      arrived.value = new Map()
      if (isStale) scheduleHeadRefresh()
    },
    applyChange(change) {
      if (change.type === 'task') applyTask(change.task)
      if (change.type !== 'tasks' && change.type !== 'reset') return
      isStale = true
      scheduleHeadRefresh()
    },
    retry: () => void (tasks.value.length === 0 ? next() : refreshHead()),
    close() {
      closing.abort()
      clearTimeout(headTimer)
      clearTimeout(retryTimer)
    },
  }
}
