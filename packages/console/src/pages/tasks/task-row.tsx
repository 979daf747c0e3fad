/** One task in the list: where it stands, whose it is, how it began, how long it took. */
import type { TaskSummary } from '../../api/admin.ts'
import { isOver, State } from '../../parts/state.tsx'
import { Ago, Since } from '../../parts/time.tsx'
import { duration, shortened } from '../../parts/words.ts'

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
    <a class="list-row task-row" href={href} data-task={id} aria-current={isSelected ? 'true' : undefined}>
      <span class="task-row-state">
        <State state={state} />
      </span>
      <span class="task-row-agent cut">{agent}</span>
      <span class="task-row-title cut" dir="auto">
        {titleOf(task)}
      </span>
      <span class="task-row-caller cut soft">{caller}</span>
      <span class="task-row-took soft">
        <Took task={task} />
      </span>
      <span class="task-row-at soft">
        <Ago at={statusAt} />
      </span>
    </a>
  )
}

export function titleOf({ title, statusText, id }: Pick<TaskSummary, 'title' | 'statusText' | 'id'>): string {
  return title ?? statusText ?? shortened(id)
}

/** How long it took, or how long it has been at it; one that waits for its caller takes no time of its own. */
export function Took({ task }: { readonly task: Pick<TaskSummary, 'state' | 'durationMs' | 'createdAt'> }) {
  if (task.durationMs !== undefined) return <>{duration(task.durationMs)}</>
  if (isOver(task.state) || task.state.endsWith('_REQUIRED')) return <>—</>
  return <Since at={task.createdAt} />
}
