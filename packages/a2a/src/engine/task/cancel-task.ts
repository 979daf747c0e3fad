/**
 * Cancel is a request to the agent and a promise to the caller: the agent gets a signal and some time, the caller gets a response
 * in any case. Only the queue of the task decides whether the task is canceled or had ended first.
 */
import { A2AError } from '../../model/error.ts'
import type { CancelTaskRequest } from '../../model/operation.ts'
import { isInterrupted, isTerminal } from '../../model/state.ts'
import type { Task } from '../../model/task.ts'
import { taskView } from './fold.ts'
import { waitUntil } from './follow.ts'
import type { LoadedTask } from './loaded-task.ts'
import { taskCanceled, type TaskRun } from '../turn/task-run.ts'
import * as intents from './task-intents.ts'

export async function cancelTask(
  loaded: LoadedTask,
  run: TaskRun | undefined,
  request: CancelTaskRequest,
  graceMs: number,
  again: 'answer' | 'refuse',
): Promise<Task> {
  const wasCanceled = loaded.fold.status.state === 'TASK_STATE_CANCELED'
  if (!isTerminal(loaded.fold.status.state)) {
    // A task that waits for input has no running agent, unless an agent in this process asked in the middle of its turn.
    if (run !== undefined || !isInterrupted(loaded.fold.status.state))
      await requestCancel(loaded, request, run, graceMs)
    run?.stop(taskCanceled())
    await loaded.write(intents.endTask(loaded.fold.turn, { state: 'TASK_STATE_CANCELED' }))
  }
  const isCanceled = loaded.fold.status.state === 'TASK_STATE_CANCELED'
  if (isCanceled && !(wasCanceled && again === 'refuse')) return taskView(loaded.fold)
  throw new A2AError('TASK_NOT_CANCELABLE', 'The task has already ended', { taskId: loaded.id })
}

/** The process that runs the task sees the record, in this process or another. */
async function requestCancel(
  loaded: LoadedTask,
  { metadata }: CancelTaskRequest,
  run: TaskRun | undefined,
  graceMs: number,
): Promise<void> {
  await loaded.write((draft) =>
    isTerminal(draft.state) || draft.cancelRequested
      ? undefined
      : { bodies: [{ type: 'cancel', ...(metadata !== undefined ? { metadata } : {}) }], anyPosition: true },
  )
  run?.cancel()
  await waitUntil(loaded, () => isTerminal(loaded.fold.status.state), graceMs)
}
