/** One task of the list: state, agent, title and duration. */
import type { TaskSummary } from '../../../api/admin.ts'
import { isTerminalState, TaskStateBadge } from '../../../components/status/task-state.tsx'
import { RelativeTime, ElapsedTime } from '../../../components/time.tsx'
import { formatDuration, truncateMiddle } from '../../../components/format.ts'

export function TaskRow({
  task,
  isSelected,
  href,
}: {
  readonly task: TaskSummary
  readonly isSelected: boolean
  readonly href: string
}) {
  const { id, agent, caller, state, statusAt } = task
  return (
    <a class="list-row task-row" href={href} data-row={id} aria-current={isSelected ? 'true' : undefined}>
      <span class="task-row-state">
        <TaskStateBadge state={state} />
      </span>
      <span class="task-row-agent cut">{agent}</span>
      <span class="task-row-title cut" dir="auto">
        {taskTitle(task)}
      </span>
      <span class="task-row-caller cut soft">{caller}</span>
      <span class="task-row-took soft">
        <TaskDuration task={task} />
      </span>
      <span class="task-row-at soft">
        <RelativeTime at={statusAt} />
      </span>
    </a>
  )
}

export function taskTitle({ title, statusText, id }: Pick<TaskSummary, 'title' | 'statusText' | 'id'>): string {
  return title ?? statusText ?? truncateMiddle(id)
}

/** The duration, or the time elapsed so far. A task that waits for its caller shows none. */
export function TaskDuration({ task }: { readonly task: Pick<TaskSummary, 'state' | 'durationMs' | 'createdAt'> }) {
  if (task.durationMs !== undefined) return <>{formatDuration(task.durationMs)}</>
  if (isTerminalState(task.state) || task.state.endsWith('_REQUIRED')) return <>—</>
  return <ElapsedTime at={task.createdAt} />
}
