/** The transcript of the task: complete, or up to the selected event; and its replay. */
import { useMemo } from 'preact/hooks'
import type { TaskDetail } from '../../../api/admin.ts'
import { consoleCaller } from '../../../api/session-state.ts'
import { isWorkingState, transcriptOf } from '../../../conversation/transcript.ts'
import { TranscriptView } from '../../../conversation/transcript-view.tsx'
import { createFoldToSeq } from '../events/fold-events.ts'
import { ReplayBar, type Replay } from '../replay/replay.tsx'
import type { TaskLog } from './task-log.ts'
import { selectEvent } from '../task-links.ts'
import { a2aTaskOf } from './use-task.ts'

export interface ConversationTabProps {
  readonly detail: TaskDetail
  readonly log: TaskLog
  readonly replay: Replay
}

export function ConversationTab({ detail, log, replay }: ConversationTabProps) {
  const { id, contextId, agent, caller, createdAt } = detail
  const whole = a2aTaskOf(detail)
  const events = log.events.value
  const canFold = log.isFromStart.value && events.length > 0
  const foldTo = useMemo(() => createFoldToSeq({ id, contextId, metadata: whole.metadata }), [id, contextId])
  const { seq } = replay
  // While the task runs, the log is ahead of the loaded task.
  const upTo = seq ?? (log.isComplete.value ? events.at(-1)?.seq : undefined)
  const task = useMemo(() => (canFold && upTo !== undefined ? foldTo(events, upTo) : whole), [events, upTo, whole])
  const shown = useMemo(
    () => (canFold && upTo !== undefined ? events.filter((event) => event.seq <= upTo) : undefined),
    [events, upTo, canFold],
  )
  const head = shown === undefined ? undefined : upTo
  const transcript = useMemo(() => transcriptOf(task, shown, head, createdAt), [task, shown, head, createdAt])
  return (
    <>
      {canFold && seq !== undefined && <ReplayBar replay={replay} events={events} startMs={Date.parse(createdAt)} />}
      <div class="task-scroll">
        <div class="conversation">
          <TranscriptView
            transcript={transcript}
            agent={agent}
            isOwn={caller === consoleCaller()}
            isBusy={isWorkingState(transcript.state)}
            selected={seq}
            onSelect={selectEvent}
          />
        </div>
      </div>
    </>
  )
}
