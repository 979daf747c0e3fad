/**
 * How long a task took, apart from how long it waited for its caller. All views of a task take their numbers from here, so one task
 * has one set of numbers.
 */
import type { TaskSummary } from '../../api/admin.ts'
import { isTerminalState, isWaitingState } from './task-states.ts'

export interface TaskTimes {
  /** Without the waiting time. */
  readonly workingMs: number
  /** In INPUT_REQUIRED and AUTH_REQUIRED. */
  readonly waitingMs: number
  readonly totalMs: number
}

export type TimedTask = Pick<TaskSummary, 'state' | 'createdAt' | 'statusAt' | 'durationMs' | 'waitingMs'>

/** Of a task that has not ended: up to `now`. */
export function taskTimes(task: TimedTask, now: number): TaskTimes {
  const { state, createdAt, statusAt, durationMs } = task
  const totalMs =
    durationMs ?? Math.max(0, (isTerminalState(state) ? Date.parse(statusAt) : now) - Date.parse(createdAt))
  // The hub counts up to the last status.
  const openWaitMs = isWaitingState(state) ? Math.max(0, now - Date.parse(statusAt)) : 0
  const waitingMs = Math.min(totalMs, (task.waitingMs ?? 0) + openWaitMs)
  return { workingMs: totalMs - waitingMs, waitingMs, totalMs }
}
