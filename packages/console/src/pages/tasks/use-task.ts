/** One task as the hub knows it, kept up to date: the stream tells where it stands, the rest is looked at when that changes. */
import { useSignal } from '@preact/signals'
import type { Task } from '@parley/a2a'
import { useEffect } from 'preact/hooks'
import type { TaskDetail, TaskSummary } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import type { Problem } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import type { Resource } from '../../api/resource.ts'
import { announce } from '../../app/announce.ts'
import { lookOf } from '../../parts/state.tsx'
import { newer } from './merge-tasks.ts'

export interface KnownTask {
  /** Undefined until it is loaded. */
  readonly detail: TaskDetail | undefined
  readonly problem: Problem | undefined
  reload(): void
}

export function useTask(id: string): KnownTask {
  const told = useSignal<TaskSummary | undefined>(undefined)
  const resource: Resource<TaskDetail> = useResource(
    `task ${id}`,
    (signal) => call('getTask', { params: { taskId: id }, signal }),
    (change) => {
      if (change.type === 'tasks') return true
      if (change.type === 'push') return change.taskId === id
      if (change.type !== 'task' || change.task.id !== id) return false
      const before = told.peek()?.state ?? resource.value.peek()?.state
      told.value = change.task
      return change.task.state !== before
    },
  )
  const loaded = resource.value.value
  const detail = loaded === undefined ? undefined : latest(loaded, told.value)
  const state = detail?.state
  useEffect(() => {
    if (told.peek() !== undefined && state !== undefined) announce(`The task is ${lookOf(state).word}`)
  }, [state])
  return { detail, problem: resource.problem.value, reload: () => resource.reload() }
}

function latest(loaded: TaskDetail, told: TaskSummary | undefined): TaskDetail {
  return told?.id === loaded.id ? { ...loaded, ...newer(loaded, told) } : loaded
}

/** The hub says it in the words of A2A 1.0. */
export function taskIn(detail: TaskDetail): Task {
  return detail.task as unknown as Task
}
