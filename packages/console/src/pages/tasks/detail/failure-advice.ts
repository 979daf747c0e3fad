/** What an operator can do about a failed task, by the cause in its log and the reason in its status. */
import type { Task } from '@parley/a2a'
import type { TaskDetail } from '../../../api/admin.ts'
import { tasksStrings } from '../strings.ts'

export type FailureAdvice = 'timeout' | 'restart' | 'unavailable' | 'error' | 'reported' | 'rejected'

const unreachable = /ECONNREFUSED|ECONNRESET|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|EPIPE|fetch failed|cannot be reached/

export function failureAdvice(detail: Pick<TaskDetail, 'state' | 'causeDetails' | 'task'>): FailureAdvice {
  const { state, causeDetails } = detail
  if (state === 'TASK_STATE_REJECTED') return 'rejected'
  const { timeout, restart } = tasksStrings.failure.causes
  if (causeDetails?.startsWith(timeout) === true) return 'timeout'
  if (causeDetails?.startsWith(restart) === true) return 'restart'
  const { status } = detail.task as unknown as Task
  if (status.message?.metadata?.['reason'] === 'UNAVAILABLE' || unreachable.test(causeDetails ?? ''))
    return 'unavailable'
  return causeDetails === undefined ? 'reported' : 'error'
}
