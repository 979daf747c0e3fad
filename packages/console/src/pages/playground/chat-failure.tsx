/** Failures in the thread: a request that failed, and why a task failed, with the cause for operators and the way to retry. */
import { FailureNotice } from '../../components/status/error-notice.tsx'
import type { ChatFailure } from './chat-session.ts'
import type { ConversationTask } from './conversation-tasks.ts'

const failureTexts = {
  send: 'The message was not delivered',
  steer: 'The message was not delivered to the running task',
  follow: 'The connection to the task was interrupted',
  load: 'The conversation could not be loaded',
  cancel: 'The task could not be canceled',
}

export function ChatFailureNotice({ failure }: { readonly failure: ChatFailure }) {
  const { step, problem, retry, isTransient } = failure
  const details = [problem.request, problem.status, problem.code, problem.message].filter(Boolean).join('\n')
  return (
    <FailureNotice
      title={failureTexts[step]}
      cause={problem.message}
      advice={
        isTransient
          ? 'The task continues on the hub. The console reconnects automatically.'
          : step === 'send'
            ? 'Check that the agent is running, then try again.'
            : undefined
      }
      retry={retry}
      details={details}
    />
  )
}

interface TaskFailureNoticeProps {
  readonly task: ConversationTask
  /** Sends its message again, as a new task. */
  readonly retry: (() => void) | undefined
}

export function TaskFailureNotice({ task: { transcript, failure }, retry }: TaskFailureNoticeProps) {
  const { taskId, state } = transcript
  if (failure === undefined || taskId === undefined) return null
  const open = (
    <a class="button small" href={`/tasks/${encodeURIComponent(taskId)}`}>
      Open task
    </a>
  )
  // The agent reported the failure itself: the thread has its message.
  if (failure.cause === undefined && failure.details === undefined) {
    return (
      <div class="row" role="group" aria-label="The task failed">
        {retry !== undefined && (
          <button type="button" class="small" onClick={retry}>
            Try again
          </button>
        )}
        {open}
      </div>
    )
  }
  return (
    <FailureNotice
      title={state === 'TASK_STATE_REJECTED' ? 'The agent rejected the task' : 'The task failed'}
      cause={failure.cause}
      advice="The events and the trace of the task show what happened."
      retry={retry}
      {...(failure.details === undefined ? {} : { details: failure.details })}
      isLive={false}
      label="The task failed"
      actions={open}
    />
  )
}
