/** The task as a person reads it: all of it, or as it was after the event that is selected; and played again. */
import { useMemo } from 'preact/hooks'
import type { TaskDetail } from '../../api/admin.ts'
import { Conversation } from '../../conversation/conversation.tsx'
import { createFoldTo } from './fold-events.ts'
import { ReplayBar } from './replay-bar.tsx'
import type { TaskLog } from './task-log.ts'
import { selectEvent } from './task-places.ts'
import type { Replay } from './use-replay.ts'
import { taskIn } from './use-task.ts'

export interface ConversationTabProps {
  readonly detail: TaskDetail
  readonly log: TaskLog
  readonly replay: Replay
}

export function ConversationTab({ detail, log, replay }: ConversationTabProps) {
  const { id, contextId, agent, createdAt } = detail
  const whole = taskIn(detail)
  const events = log.events.value
  const canFold = log.isFromStart.value && events.length > 0
  const foldTo = useMemo(() => createFoldTo({ id, contextId, metadata: whole.metadata }), [id, contextId])
  const { seq } = replay
  // What runs is told event by event: the log is ahead of the task that was looked at before.
  const upTo = seq ?? (log.isWhole.value ? events.at(-1)?.seq : undefined)
  const task = useMemo(() => (canFold && upTo !== undefined ? foldTo(events, upTo) : whole), [events, upTo, whole])
  const shown = useMemo(
    () => (canFold && upTo !== undefined ? events.filter((event) => event.seq <= upTo) : undefined),
    [events, upTo, canFold],
  )
  return (
    <>
      {canFold && seq !== undefined && <ReplayBar replay={replay} events={events} />}
      <div class="task-scroll">
        <Conversation
          task={task}
          agent={agent}
          createdAt={createdAt}
          events={shown}
          head={shown === undefined ? undefined : upTo}
          selected={seq}
          onSelect={selectEvent}
        />
      </div>
    </>
  )
}
