/** Failures in the thread: a request that failed, and why a task failed, with the cause for operators and the way to retry. */
import { FailureNotice } from '../../components/status/error-notice.tsx'
import type { ChatFailure } from './chat-session.ts'
import type { ConversationTask } from './conversation-tasks.ts'
import { playgroundStrings } from './strings.ts'

const words = playgroundStrings.failure

export function ChatFailureNotice({ failure }: { readonly failure: ChatFailure }) {
  const { step, problem, retry, isTransient } = failure
  const details = [problem.request, problem.status, problem.code, problem.message].filter(Boolean).join('\n')
  return (
    <FailureNotice
      title={words[step]}
      cause={problem.message}
      advice={isTransient ? words.transient : step === 'send' ? words.check : undefined}
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
      {words.openTask}
    </a>
  )
  // The agent reported the failure itself: the thread has its message.
  if (failure.cause === undefined && failure.details === undefined) {
    return (
      <div class="row" role="group" aria-label={words.taskFailed}>
        {retry !== undefined && (
          <button type="button" class="small" onClick={retry}>
            {words.tryAgain}
          </button>
        )}
        {open}
      </div>
    )
  }
  return (
    <FailureNotice
      title={state === 'TASK_STATE_REJECTED' ? words.taskRejected : words.taskFailed}
      cause={failure.cause}
      advice={words.taskAdvice}
      retry={retry}
      {...(failure.details === undefined ? {} : { details: failure.details })}
      isLive={false}
      label={words.taskFailed}
      actions={open}
    />
  )
}
