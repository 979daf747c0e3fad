/** Why a task failed: the message that its caller got, the cause for operators, what to do, and the way to send it again. */
import type { TaskDetail } from '../../../api/admin.ts'
import { navigate } from '../../../app/router.ts'
import { useSubmit } from '../../../components/form/use-submit.ts'
import { Icon } from '../../../components/icon.tsx'
import { ErrorNotice, FailedChildLink, FailureNotice } from '../../../components/status/error-notice.tsx'
import { compareHref } from '../task-links.ts'
import { failureAdvice } from './failure-advice.ts'
import { firstMessageOf, resendMessage } from './resend-task.tsx'

const adviceTexts = {
  delegated: 'A task that it delegated failed. Fix the cause in the agent of that task, then resend.',
  timeout: 'The agent exceeded its time limit. Raise “timeout” in its settings, or split the request.',
  restart:
    'The hub stopped while the agent was working. Resend the message. Agents that can resume continue after a restart.',
  unavailable:
    'The agent, or a service that it uses, could not be reached. Check that it is running and that its URL and credentials are correct, then resend.',
  error: 'The agent failed with this error. Fix the cause in the agent, then resend.',
  reported: 'The agent ended the task itself. Check the request, then resend it or send it to another agent.',
  rejected: 'Change the request, or send it to another agent.',
}

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
        title={statusText ?? (isRejected ? 'The agent rejected the task' : 'The task failed')}
        cause={cause}
        advice={adviceTexts[failureAdvice(detail)]}
        {...(causeDetails !== undefined ? { details: causeDetails } : {})}
        isLive={false}
        label="Failure"
        actions={
          <>
            {message !== undefined && (
              <button
                type="submit"
                class="small"
                title="Sends the first message again, as a new task"
                disabled={isBusy}
              >
                <Icon name="retry" size={14} />
                Resend
              </button>
            )}
            <FailedChildLink failedChild={failedChild} />
            <a class="button small" href={`/agents/${encodeURIComponent(agent)}`}>
              Open agent
            </a>
          </>
        }
      />
      {problem !== undefined && <ErrorNotice reason={problem} />}
    </form>
  )
}
