/** One task of the table, with the chosen columns; the whole row is the link. On a narrow screen it has two lines. */
import { signal } from '@preact/signals'
import type { TaskSummary } from '../../../api/admin.ts'
import { formatCount, truncateMiddle } from '../../../components/format.ts'
import { taskStateDisplay, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { TaskDuration } from '../../../components/status/task-time.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import type { TaskColumn, TaskColumnName } from './task-columns.ts'

/** Two tasks to compare, the one that was chosen first in front. */
export const chosenTasks = signal<readonly string[]>([])

function choose(id: string, isChosen: boolean): void {
  const others = chosenTasks.value.filter((one) => one !== id)
  chosenTasks.value = isChosen ? [...others.slice(-1), id] : others
}

export interface TaskRowProps {
  readonly task: TaskSummary
  readonly columns: readonly TaskColumn[]
  readonly isSelected: boolean
  readonly href: string
}

export function TaskRow({ task, columns, isSelected, href }: TaskRowProps) {
  return (
    <div class={isSelected ? 'list-row task-row selected' : 'list-row task-row'} onClick={openFromTitledText}>
      {columns.map(({ name, isNumber = false }) => (
        <span key={name} role="cell" class={`task-row-${name}${isNumber ? ' task-number' : ''}`}>
          <Cell name={name} task={task} isSelected={isSelected} href={href} />
        </span>
      ))}
    </div>
  )
}

/** Texts with a title lie above the link, so that the pointer finds them: a press on them opens the task, too. */
function openFromTitledText({ target, currentTarget }: MouseEvent): void {
  if (!(target instanceof Element) || !(currentTarget instanceof Element)) return
  if (target.closest('a') === null) currentTarget.querySelector('a')?.click()
}

interface CellProps extends Omit<TaskRowProps, 'columns'> {
  readonly name: TaskColumnName
}

function Cell({ name, task, isSelected, href }: CellProps) {
  switch (name) {
    case 'state':
      return (
        <>
          <TaskStateBadge state={task.state} />
          <input
            type="checkbox"
            class="task-choose"
            aria-label="Choose to compare"
            title="Choose to compare with another task"
            checked={chosenTasks.value.includes(task.id)}
            onClick={(event) => event.stopPropagation()}
            onChange={({ currentTarget }) => choose(task.id, currentTarget.checked)}
          />
        </>
      )
    case 'agent':
      return <span class="cut">{task.agent}</span>
    case 'task':
      return (
        <a
          class="task-row-link cut"
          dir="auto"
          href={href}
          data-row={task.id}
          aria-current={isSelected ? 'true' : undefined}
        >
          {taskTitle(task)}
        </a>
      )
    case 'result':
      return <TaskResult task={task} />
    case 'caller':
      return (
        <span class="cut soft" title={task.caller}>
          {task.callerName ?? task.caller}
        </span>
      )
    case 'context':
      return <span class="mono faint">{truncateMiddle(task.contextId)}</span>
    case 'events':
      return <span class="soft">{formatCount(task.head)}</span>
    case 'duration':
      return <TaskDuration task={task} />
    case 'created':
      return <RelativeTime at={task.createdAt} />
    case 'updated':
      return <RelativeTime at={task.statusAt} />
  }
}

/** The beginning of the answer; of a failed task its cause, of a waiting one its question. */
function TaskResult({ task }: { readonly task: TaskSummary }) {
  const text = taskResult(task)
  if (text === '') return null
  const { tone } = taskStateDisplay(task.state)
  const look = tone === 'failed' || tone === 'waiting' ? ` ${tone}` : ''
  return (
    <span class={`cut task-result${look}`} dir="auto" title={text}>
      {text}
    </span>
  )
}

export function taskResult({ state, result, statusText, cause }: TaskSummary): string {
  if (cause !== undefined) return statusText === undefined ? cause : `${statusText}: ${cause}`
  const { tone } = taskStateDisplay(state)
  const isStatusFirst = tone === 'failed' || tone === 'waiting' || tone === 'ended'
  return (isStatusFirst ? (statusText ?? result) : (result ?? statusText)) ?? ''
}

export function taskTitle({ title, statusText, id }: Pick<TaskSummary, 'title' | 'statusText' | 'id'>): string {
  return title ?? statusText ?? truncateMiddle(id)
}
