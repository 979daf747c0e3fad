/** The duration of a task: its working time, and below it the time in which it waited for its caller. */
import { now } from '../../api/resource.ts'
import { formatDuration } from '../format.ts'
import { isTerminalState } from './task-state.tsx'
import { taskTimes, type TaskTimes, type TimedTask } from './task-times.ts'
import './task-state.css'

/** The current times of a task: they grow until it has ended. */
export function currentTaskTimes(task: TimedTask): TaskTimes {
  return taskTimes(task, isTerminalState(task.state) ? 0 : now.value)
}

/** Shorter waits are shown as part of the exact times only. */
const shownWaitMs = 1_000

export function TaskDuration({ task }: { readonly task: TimedTask }) {
  const times = currentTaskTimes(task)
  const hasWaited = times.waitingMs >= shownWaitMs
  return (
    <span class="task-duration" title={hasWaited ? exactTimesText(times) : undefined}>
      <span>{formatDuration(times.workingMs)}</span>
      {hasWaited && <span class="task-waited">{formatDuration(times.waitingMs)} waiting</span>}
    </span>
  )
}

export function exactTimesText({ workingMs, waitingMs, totalMs }: TaskTimes): string {
  return `Working ${formatDuration(workingMs)}, waiting for input or sign-in ${formatDuration(waitingMs)}, total ${formatDuration(totalMs)}`
}

/** For example `3.2 s working, 10 min waiting`; without a wait only the duration. */
export function timesText({ workingMs, waitingMs }: TaskTimes): string {
  const working = formatDuration(workingMs)
  if (waitingMs < shownWaitMs) return working
  return `${working} working, ${formatDuration(waitingMs)} waiting`
}
