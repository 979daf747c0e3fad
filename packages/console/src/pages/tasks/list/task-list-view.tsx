/** The tasks, one row each; only visible rows are rendered. New tasks do not move the rows on screen. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { TaskSummary } from '../../../api/admin.ts'
import type { PagedList } from '../../../api/paged-list.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate } from '../../../app/router.ts'
import { copyText } from '../../../components/content/copy-button.tsx'
import { ErrorNotice, Loading } from '../../../components/status/error-notice.tsx'
import { VirtualList } from '../../../components/list/virtual-list.tsx'
import { pluralize } from '../../../components/format.ts'
import type { TaskFilters } from './task-filters.ts'
import { taskHref } from '../task-links.ts'
import type { TaskTab } from '../task-links.ts'
import { TaskRow } from './task-row.tsx'
import { NoTasks } from './no-tasks.tsx'
import './task-list-view.css'

/** As in the style sheet: one line if there is room, otherwise two. */
const oneLineHeight = 44
const twoLineHeight = 60
const narrow = 620

export interface TaskListProps {
  readonly list: PagedList<TaskSummary>
  readonly filters: TaskFilters
  readonly selected: string | undefined
  readonly tab: TaskTab
}

export function TaskListView({ list, filters, selected, tab }: TaskListProps) {
  const frame = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const cursor = useSignal<string | undefined>(undefined)
  const isNarrow = useSignal(false)
  const tasks = list.items.value ?? []
  const at = tasks.findIndex(({ id }) => id === (selected ?? cursor.value))

  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return
    const watch = new ResizeObserver(() => (isNarrow.value = element.clientWidth <= narrow))
    watch.observe(element)
    return () => watch.disconnect()
  }, [])

  function move(by: number): void {
    const next = tasks[at < 0 ? 0 : Math.min(tasks.length - 1, Math.max(0, at + by))]
    if (next === undefined) return
    cursor.value = next.id
    focusRow(scroller.current, next.id)
    if (selected !== undefined) navigate(taskHref(next.id, tab), { replace: true })
  }

  function toTop(): void {
    if (scroller.current !== null) scroller.current.scrollTop = 0
    list.setAtTop(true)
  }

  useShortcuts([
    { key: 'j', label: 'Next task', run: () => move(1) },
    { key: 'k', label: 'Previous task', run: () => move(-1) },
    { key: 'Enter', label: 'Open the task', run: () => cursor.value !== undefined && navigate(taskHref(cursor.value)) },
    {
      key: 'c',
      label: 'Copy the id of the task',
      run: () => {
        const id = selected ?? cursor.value
        if (id !== undefined) void copyText(id, 'Task id copied')
      },
    },
  ])

  const isEmpty = tasks.length === 0 && !list.isLoading.value && list.problem.value === undefined
  return (
    <div ref={frame} class="task-list">
      {list.problem.value !== undefined && <ErrorNotice reason={list.problem.value} retry={list.refresh} />}
      {list.newCount.value > 0 && (
        <button type="button" class="new-pill" onClick={toTop}>
          {list.newCount.value} new
        </button>
      )}
      {isEmpty && list.pausedAt.value === undefined ? (
        <NoTasks filters={filters} />
      ) : (
        <VirtualList
          count={tasks.length}
          rowHeight={isNarrow.value ? twoLineHeight : oneLineHeight}
          label="Tasks"
          keyOf={(index) => tasks[index]?.id ?? ''}
          row={(index) => {
            const task = tasks[index]
            return task === undefined ? null : (
              <TaskRow task={task} isSelected={task.id === selected} href={taskHref(task.id, tab)} />
            )
          }}
          selected={at < 0 ? undefined : at}
          onEnd={list.loadMore}
          onTop={list.setAtTop}
          scroller={scroller}
        />
      )}
      <ListFooter list={list} />
    </div>
  )
}

/** A row far away is rendered only after scrolling to it. Until then, no other row may receive the next key. */
function focusRow(scroller: HTMLElement | null, id: string, triesLeft = 10): void {
  const row = scroller?.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"]`)
  if (row !== null && row !== undefined) return row.focus({ preventScroll: true })
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  if (triesLeft > 0) requestAnimationFrame(() => focusRow(scroller, id, triesLeft - 1))
}

function ListFooter({ list }: { readonly list: PagedList<TaskSummary> }) {
  const { items, isLoading, hasMore, pausedAt } = list
  const count = items.value?.length ?? 0
  if (pausedAt.value !== undefined) {
    return (
      <p class="task-foot">
        Looked through 10,000 more tasks and found nothing.{' '}
        <button type="button" class="small" onClick={list.continueSearch}>
          Look further back
        </button>
      </p>
    )
  }
  if (count === 0) return isLoading.value ? <Loading what="tasks" /> : null
  return (
    <p class="task-foot faint">
      {pluralize(count, 'task')}
      {!hasMore.value ? '' : isLoading.value ? ', loading more …' : ' so far, more below'}
    </p>
  )
}
