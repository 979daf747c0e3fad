/** Why a task failed: the message that its caller got, the cause for operators, what to do, and the way to send it again. */
import type { TaskDetail } from '../../../api/admin.ts'
import { navigate } from '../../../app/router.ts'
import { useSubmit } from '../../../components/form/use-submit.ts'
import { Icon } from '../../../components/icon.tsx'
import { ErrorNotice, FailedChildLink, FailureNotice } from '../../../components/status/error-notice.tsx'
import { tasksStrings } from '../strings.ts'
import { compareHref } from '../task-links.ts'
import { failureAdvice } from './failure-advice.ts'
import { firstMessageOf, resendMessage } from './resend-task.tsx'

const { failure: strings } = tasksStrings

export function TaskFailure({ detail }: { readonly detail: TaskDetail }) {
  const { id, agent, state, statusText, cause, causeDetails, failedChild } = detail
  const message = firstMessageOf(detail)
  const { isBusy, problem, onSubmit } = useSubmit(async () => {
    if (message !== undefined) navigate(compareHref(id, await resendMessage(agent, message)))
  })
  const isRejected = state === 'TASK_STATE_REJECTED'
  if (!isRejected && state !== 'TASK_STATE_FAILED') return null
  return (
    <form class="task-failure" onSubmit={onSubmit}>
      <FailureNotice
        title={statusText ?? (isRejected ? strings.rejected : strings.failed)}
        cause={cause}
        advice={strings.advice[failureAdvice(detail)]}
        {...(causeDetails !== undefined ? { details: causeDetails } : {})}
        isLive={false}
        label={strings.label}
        actions={
          <>
            {message !== undefined && (
              <button type="submit" class="small" title={strings.resendShort} disabled={isBusy}>
                <Icon name="retry" size={14} />
                {strings.resend}
              </button>
            )}
            <FailedChildLink failedChild={failedChild} />
            <a class="button small" href={`/agents/${encodeURIComponent(agent)}`}>
              {strings.openAgent}
            </a>
          </>
        }
      />
      {problem !== undefined && <ErrorNotice reason={problem} />}
    </form>
  )
}
