/** Where the next message goes: to the running task, to the task that waits, or to a new one; and the other choice. */
import { isInterrupted } from '@parley/a2a'
import type { Agent } from '../../api/admin.ts'
import { setQuery } from '../../app/router.ts'
import type { ConversationTask } from './conversation-tasks.ts'
import { playgroundStrings } from './strings.ts'

const words = playgroundStrings.reply

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
        {words.busy[whenBusy]}
      </p>
    )
  }
  if (waiting !== undefined) {
    return (
      <p class="bar reply-target">
        {words.replying}
        <button type="button" class="small" onClick={() => setQuery({ task: undefined })}>
          {words.newTask}
        </button>
      </p>
    )
  }
  const left = slots.findLast(({ transcript }) => isInterrupted(transcript.state))
  if (left?.transcript.taskId === undefined) return null
  return (
    <p class="bar reply-target">
      {words.startsTask}
      <button type="button" class="small" onClick={() => setQuery({ task: left.transcript.taskId })}>
        {words.replyInstead}
      </button>
    </p>
  )
}
