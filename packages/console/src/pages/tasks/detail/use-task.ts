/** One task, kept current: the change feed brings the state, and the rest is reloaded when that changes. */
import { useSignal } from '@preact/signals'
import type { Task } from '@parley/a2a'
import { useEffect } from 'preact/hooks'
import type { TaskDetail, TaskSummary } from '../../../api/admin.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import type { Problem } from '../../../api/problem.ts'
import { useResource, type Resource } from '../../../api/resource.ts'
import { announce } from '../../../app/announce.ts'
import { taskStateDisplay } from '../../../components/status/task-state.tsx'
import { newerTask } from '../list/task-list.ts'

export interface TaskResource {
  /** `undefined` until it is loaded. */
  readonly detail: TaskDetail | undefined
  readonly problem: Problem | undefined
  reload(): void
}

export function useTask(id: string): TaskResource {
  const latestSummary = useSignal<TaskSummary | undefined>(undefined)
  const resource: Resource<TaskDetail> = useResource(
    `task ${id}`,
    (signal) => callAdmin('getTask', { params: { taskId: id }, signal }),
    (change) => {
      if (change.type === 'tasks') return true
      if (change.type === 'push') return change.taskId === id
      if (change.type !== 'task' || change.task.id !== id) return false
      const before = latestSummary.peek()?.state ?? resource.value.peek()?.state
      latestSummary.value = change.task
      return change.task.state !== before
    },
  )
  const loaded = resource.value.value
  const detail = loaded === undefined ? undefined : withLatestSummary(loaded, latestSummary.value)
  const state = detail?.state
  useEffect(() => {
    if (latestSummary.peek() !== undefined && state !== undefined)
      announce(`Task state: ${taskStateDisplay(state).word}`)
  }, [state])
  return { detail, problem: resource.problem.value, reload: () => resource.reload() }
}

function withLatestSummary(loaded: TaskDetail, latestSummary: TaskSummary | undefined): TaskDetail {
  if (latestSummary?.id !== loaded.id || latestSummary.head < loaded.head) return loaded
  return { ...loaded, ...newerTask(loaded, latestSummary) }
}

/** The hub returns the task in the format of A2A 1.0. */
export function a2aTaskOf(detail: Pick<TaskDetail, 'task'>): Task {
  return detail.task as unknown as Task
}
