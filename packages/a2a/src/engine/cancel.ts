/**
 * Cancel is a request to the agent and a promise to the caller: the agent gets a signal
 * and a little time, the caller gets an answer in any case. Whether the task is canceled
 * or had ended first is decided by the task's queue alone.
 */
import { A2AError } from '../model/error.ts'
import type { CancelTaskRequest } from '../model/operation.ts'
import { isInterrupted, isTerminal } from '../model/state.ts'
import type { Task } from '../model/task.ts'
import { viewOf } from './fold.ts'
import { until } from './follow.ts'
import type { Live } from './live.ts'
import type { Run } from './run.ts'
import * as steps from './steps.ts'

export async function cancelTask(
  live: Live,
  run: Run | undefined,
  request: CancelTaskRequest,
  graceMs: number,
  again: 'answer' | 'refuse',
): Promise<Task> {
  const wasCanceled = live.fold.status.state === 'TASK_STATE_CANCELED'
  if (!isTerminal(live.fold.status.state)) {
    // A task that waits for input has nobody to ask, unless an agent here asked in the middle of its turn.
    if (run !== undefined || !isInterrupted(live.fold.status.state)) await ask(live, request, run, graceMs)
    run?.stop(new A2AError('UNSUPPORTED_OPERATION', 'The task was canceled'))
    await live.write(steps.endTask(live.fold.turn, { state: 'TASK_STATE_CANCELED' }))
  }
  const isCanceled = live.fold.status.state === 'TASK_STATE_CANCELED'
  if (isCanceled && !(wasCanceled && again === 'refuse')) return viewOf(live.fold)
  throw new A2AError('TASK_NOT_CANCELABLE', 'The task has already ended', { taskId: live.id })
}

/** Whoever runs the task sees the record, here or in another process. */
async function ask(live: Live, { metadata }: CancelTaskRequest, run: Run | undefined, graceMs: number): Promise<void> {
  await live.write((draft) =>
    isTerminal(draft.state) || draft.cancelRequested
      ? undefined
      : { bodies: [{ type: 'cancel', ...(metadata !== undefined ? { metadata } : {}) }], anywhere: true },
  )
  run?.cancel()
  await until(live, () => isTerminal(live.fold.status.state), graceMs)
}
