/** What an operator can do about a failed task, by the cause in its log and the reason in its status. */
import type { Task } from '@parley/a2a'
import type { TaskDetail } from '../../../api/admin.ts'

export type FailureAdvice = 'timeout' | 'restart' | 'unavailable' | 'error' | 'reported' | 'rejected'

/** The texts are those of the engine: `task-run.ts` and `recovery.ts`. */
const causesOfEngine: readonly (readonly [text: string, advice: FailureAdvice])[] = [
  ['the turn took too long', 'timeout'],
  ['interrupted by a restart', 'restart'],
]

const unreachable = /ECONNREFUSED|ECONNRESET|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|EPIPE|fetch failed|cannot be reached/

export function failureAdvice(detail: Pick<TaskDetail, 'state' | 'causeDetails' | 'task'>): FailureAdvice {
  const { state, causeDetails } = detail
  if (state === 'TASK_STATE_REJECTED') return 'rejected'
  const known = causesOfEngine.find(([text]) => causeDetails?.startsWith(text) === true)
  if (known !== undefined) return known[1]
  const { status } = detail.task as unknown as Task
  if (status.message?.metadata?.['reason'] === 'UNAVAILABLE' || unreachable.test(causeDetails ?? ''))
    return 'unavailable'
  return causeDetails === undefined ? 'reported' : 'error'
}
