/** What an operator can do about a failed task, by the cause in its log. */
import type { TaskDetail } from '../../../api/admin.ts'

export type FailureAdvice = 'delegated' | 'timeout' | 'restart' | 'unavailable' | 'error' | 'reported' | 'rejected'

const unreachable =
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|EPIPE|fetch failed|(cannot|could not) be reached|unavailable|is down/i

export function failureAdvice(detail: Pick<TaskDetail, 'state' | 'causeDetails' | 'failedChild'>): FailureAdvice {
  const { state, causeDetails, failedChild } = detail
  if (failedChild !== undefined) return 'delegated'
  if (state === 'TASK_STATE_REJECTED') return 'rejected'
  if (causeDetails?.startsWith('the turn took too long') === true) return 'timeout'
  if (causeDetails?.startsWith('interrupted by a restart') === true) return 'restart'
  if (unreachable.test(causeDetails ?? '')) return 'unavailable'
  return causeDetails === undefined ? 'reported' : 'error'
}
