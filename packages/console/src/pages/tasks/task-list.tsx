/** The tasks, one row each; only those that are seen are drawn. What is new does not move what is read. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useKeys } from '../../app/keys.ts'
import { go } from '../../app/router.ts'
import { copyText } from '../../parts/copy.tsx'
import { Trouble, Loading } from '../../parts/trouble.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { many } from '../../parts/words.ts'
import type { TaskFilters } from './task-filters.ts'
import type { TaskList } from './task-list-store.ts'
import { taskHref } from './task-places.ts'
import type { TaskTab } from './task-places.ts'
import { TaskRow } from './task-row.tsx'
import { NoTasks } from './no-tasks.tsx'
import './task-list.css'

/** As in the style sheet: one line where there is room, two where there is not. */
const oneLine = 44
const twoLines = 60
const narrow = 620

export interface TaskListProps {
  readonly list: TaskList
  readonly filters: TaskFilters
  readonly selected: string | undefined
  readonly tab: TaskTab
}

export function TaskListView({ list, filters, selected, tab }: TaskListProps) {
  const frame = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const cursor = useSignal<string | undefined>(undefined)
  const isNarrow = useSignal(false)
  const tasks = list.tasks.value
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
    if (selected !== undefined) go(taskHref(next.id, tab), { replace: true })
  }

  function toTop(): void {
    if (scroller.current !== null) scroller.current.scrollTop = 0
    list.read(false)
  }

  useKeys([
    { key: 'j', does: 'Next task', run: () => move(1) },
    { key: 'k', does: 'Previous task', run: () => move(-1) },
    { key: 'Enter', does: 'Open the task', run: () => cursor.value !== undefined && go(taskHref(cursor.value)) },
    {
      key: 'c',
      does: 'Copy the id of the task',
      run: () => {
        const id = selected ?? cursor.value
        if (id !== undefined) void copyText(id, 'Task id copied')
      },
    },
  ])

  const isEmpty = tasks.length === 0 && !list.isLoading.value && list.problem.value === undefined
  return (
    <div ref={frame} class="task-list">
      {list.problem.value !== undefined && <Trouble reason={list.problem.value} retry={list.retry} />}
      {list.newCount.value > 0 && (
        <button type="button" class="new-pill" onClick={toTop}>
          {list.newCount.value} new
        </button>
      )}
      {isEmpty && !list.isTired.value ? (
        <NoTasks filters={filters} />
      ) : (
        <VirtualList
          count={tasks.length}
          rowHeight={isNarrow.value ? twoLines : oneLine}
          label="Tasks"
          keyOf={(index) => tasks[index]?.id ?? ''}
          row={(index) => {
            const task = tasks[index]
            return task === undefined ? null : (
              <TaskRow task={task} isSelected={task.id === selected} href={taskHref(task.id, tab)} />
            )
          }}
          selected={at < 0 ? undefined : at}
          onEnd={list.more}
          onTop={(isAtTop) => list.read(!isAtTop)}
          scroller={scroller}
        />
      )}
      <Foot list={list} />
    </div>
  )
}

/** A row that is far away is drawn only after it was scrolled to. Until then no other row may take the next key. */
function focusRow(scroller: HTMLElement | null, id: string, triesLeft = 10): void {
  const row = scroller?.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"]`)
  if (row !== null && row !== undefined) return row.focus({ preventScroll: true })
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  if (triesLeft > 0) requestAnimationFrame(() => focusRow(scroller, id, triesLeft - 1))
}

function Foot({ list }: { readonly list: TaskList }) {
  const { tasks, isLoading, isWhole, isTired } = list
  if (isTired.value) {
    return (
      <p class="task-foot">
        Looked through 10,000 more tasks and found nothing.{' '}
        <button type="button" class="small" onClick={list.lookFurther}>
          Look further back
        </button>
      </p>
    )
  }
  if (tasks.value.length === 0) return isLoading.value ? <Loading what="tasks" /> : null
  return (
    <p class="task-foot faint">
      {many(tasks.value.length, 'task')}
      {isWhole.value ? '' : isLoading.value ? ', loading more …' : ' so far, more below'}
    </p>
  )
}
