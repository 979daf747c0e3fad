/**
 * The tasks that are listed: loaded a page at a time as one scrolls, brought up to date by the stream of changes. While
 * somebody reads further down, rows change where they stand and what is new waits; at the top everything is in its place.
 */
import { computed, signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { TaskSummary } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import type { Change } from '../../api/feed.ts'
import { isProblem, problemOf } from '../../api/problem.ts'
import type { Problem } from '../../api/problem.ts'
import { merge, newer, updateInPlace } from './merge-tasks.ts'
import { askFor, fits } from './task-filters.ts'
import type { TaskFilters } from './task-filters.ts'

export interface TaskList {
  readonly tasks: ReadonlySignal<readonly TaskSummary[]>
  /** What is new and waits until one is at the top again. */
  readonly newCount: ReadonlySignal<number>
  readonly isLoading: ReadonlySignal<boolean>
  readonly problem: ReadonlySignal<Problem | undefined>
  /** Everything that fits is here. */
  readonly isWhole: ReadonlySignal<boolean>
  /** A text was looked for in many pages and not found: whoever wants looks further. */
  readonly isTired: ReadonlySignal<boolean>
  /** The next page. */
  more(): void
  lookFurther(): void
  /** Whether somebody reads further down. */
  read(isReading: boolean): void
  tell(change: Change): void
  retry(): void
  close(): void
}

/** The first is there soon; whoever scrolls on wants more. */
const firstPage = 100
const laterPages = 500
const settleMs = 150
const retryMs = 1_500
/** Pages without a find, a thousand tasks each, before it asks whether to go on. */
const mostEmpty = 10

export function createTaskList(filters: TaskFilters): TaskList {
  // "The last hour" is the same for every page.
  const asked = askFor(filters, Date.now())
  const tasks = signal<readonly TaskSummary[]>([])
  const arrived = signal<ReadonlyMap<string, TaskSummary>>(new Map())
  const newCount = computed(() => arrived.value.size)
  const isLoading = signal(true)
  const problem = signal<Problem | undefined>(undefined)
  const isWhole = signal(false)
  const isTired = signal(false)
  const closing = new AbortController()
  let before: string | undefined
  let isReading = false
  /** More has changed than we were told of: at the top everything is loaded anew. */
  let isStale = false
  let isBusy = false
  let headTimer: ReturnType<typeof setTimeout> | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined

  async function next(): Promise<void> {
    if (isBusy || isWhole.value || closing.signal.aborted) return
    isBusy = true
    isLoading.value = true
    await attempt(async () => {
      for (let empty = 0; ; empty += 1) {
        const page = await ask(before)
        before = page.before
        isWhole.value = page.before === undefined
        tasks.value = merge(tasks.value, page.tasks)
        if (page.tasks.length > 0 || isWhole.value) return
        if (empty + 1 === mostEmpty) return void (isTired.value = true)
      }
    }, next)
    isBusy = false
    isLoading.value = false
  }

  /** The newest page, held against what is here. */
  async function lookAtHead(): Promise<void> {
    if (isBusy) return lookSoon()
    await attempt(async () => {
      const page = await ask(undefined)
      const known = new Set(tasks.value.map(({ id }) => id))
      if (isReading) {
        const fresh = page.tasks.filter(({ id }) => !known.has(id)).map((task) => [task.id, task] as const)
        arrived.value = new Map([...arrived.value, ...fresh])
        for (const task of page.tasks) tasks.value = updateInPlace(tasks.value, task)
      } else if (isStale || !page.tasks.some(({ id }) => known.has(id))) {
        isStale = false
        replace(page)
      } else {
        tasks.value = merge(tasks.value, page.tasks)
      }
    }, lookAtHead)
  }

  function replace(page: { readonly tasks: readonly TaskSummary[]; readonly before?: string }): void {
    const titles = new Map(tasks.value.map((task) => [task.id, task]))
    before = page.before
    isWhole.value = page.before === undefined
    isTired.value = false
    tasks.value = page.tasks.map((task) => newer(titles.get(task.id), task))
  }

  function ask(from: string | undefined) {
    const query = { ...asked, ...(from === undefined ? { limit: firstPage } : { limit: laterPages, before: from }) }
    return call('listTasks', { query, signal: closing.signal })
  }

  async function attempt(work: () => Promise<void>, again: () => Promise<void>): Promise<void> {
    try {
      await work()
      problem.value = undefined
    } catch (reason) {
      if (closing.signal.aborted) return
      problem.value = problemOf(reason)
      if (isProblem(reason, 'UNREACHABLE', 'UNAVAILABLE')) {
        clearTimeout(retryTimer)
        retryTimer = setTimeout(() => void again(), retryMs)
      }
    }
  }

  /** The first of many changes decides when, so that a busy hub cannot put it off for ever. */
  function lookSoon(): void {
    headTimer ??= setTimeout(() => {
      headTimer = undefined
      if (!closing.signal.aborted) void lookAtHead()
    }, settleMs)
  }

  function take(told: TaskSummary): void {
    const fit = fits(filters, told, Date.now())
    const known = tasks.value.find(({ id }) => id === told.id)
    if (known !== undefined && isReading) {
      tasks.value = updateInPlace(tasks.value, told)
    } else if (fit === 'no') {
      tasks.value = tasks.value.filter(({ id }) => id !== told.id)
      forget(told.id)
    } else if (known !== undefined) {
      tasks.value = merge(tasks.value, [told])
    } else if (fit === 'ask' || told.title === undefined) {
      // Somebody else's old task, or one whose text we cannot see: the hub says whether and as what it is listed.
      lookSoon()
    } else if (isReading) {
      arrived.value = new Map([...arrived.value, [told.id, newer(arrived.value.get(told.id), told)]])
    } else {
      tasks.value = merge(tasks.value, [told])
    }
  }

  function forget(id: string): void {
    if (!arrived.value.has(id)) return
    arrived.value = new Map([...arrived.value].filter(([one]) => one !== id))
  }

  void next()
  return {
    tasks,
    newCount,
    isLoading,
    problem,
    isWhole,
    isTired,
    more: () => {
      if (!isTired.value && problem.value === undefined) void next()
    },
    lookFurther() {
      isTired.value = false
      void next()
    },
    read(reading) {
      if (isReading === reading) return
      isReading = reading
      if (reading) return
      // Those that changed while somebody read may have left, or stand elsewhere now.
      const now = Date.now()
      const kept = tasks.value.filter((task) => fits(filters, task, now) !== 'no')
      tasks.value = merge(kept, arrived.value.values())
      arrived.value = new Map()
      if (isStale) lookSoon()
    },
    tell(change) {
      if (change.type === 'task') take(change.task)
      if (change.type !== 'tasks' && change.type !== 'reset') return
      isStale = true
      lookSoon()
    },
    retry: () => void (tasks.value.length === 0 ? next() : lookAtHead()),
    close() {
      closing.abort()
      clearTimeout(headTimer)
      clearTimeout(retryTimer)
    },
  }
}
