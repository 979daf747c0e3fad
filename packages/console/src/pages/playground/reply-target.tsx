/** Where the next message goes: to the running task, to the task that waits, or to a new one; and the other choice. */
import { isInterrupted } from '@parley/a2a'
import type { Agent } from '../../api/admin.ts'
import { setQuery } from '../../app/router.ts'
import type { ConversationTask } from './conversation-tasks.ts'

const busy = {
  queue: 'Your message goes to the running task. The agent handles it after its current turn.',
  steer: 'Your message goes to the running task. The agent receives it while it works.',
  reject: 'This agent accepts no messages while it works. Wait, or cancel the task.',
}

export interface ReplyTargetProps {
  readonly slots: readonly ConversationTask[]
  readonly waiting: ConversationTask | undefined
  /** What the agent does with a message now; `undefined` if no task is running. */
  readonly whenBusy: Agent['whenBusy'] | undefined
}

export function ReplyTarget({ slots, waiting, whenBusy }: ReplyTargetProps) {
  if (whenBusy !== undefined) {
    return (
      <p class="bar reply-target" role="status">
        {busy[whenBusy]}
      </p>
    )
  }
  if (waiting !== undefined) {
    return (
      <p class="bar reply-target">
        Replying to this task
        <button type="button" class="small" onClick={() => setQuery({ task: undefined })}>
          Start a new task
        </button>
      </p>
    )
  }
  const left = slots.findLast(({ transcript }) => isInterrupted(transcript.state))
  if (left?.transcript.taskId === undefined) return null
  return (
    <p class="bar reply-target">
      Starts a new task in this conversation
      <button type="button" class="small" onClick={() => setQuery({ task: left.transcript.taskId })}>
        Reply to the question
      </button>
    </p>
  )
}
