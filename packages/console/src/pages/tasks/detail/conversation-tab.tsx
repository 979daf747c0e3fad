/** The transcript of the task: complete, or up to the selected event; and its replay. */
import type { TaskStatus } from '@parley/a2a'
import { useMemo } from 'preact/hooks'
import type { TaskDetail } from '../../../api/admin.ts'
import { consoleCaller } from '../../../api/session-state.ts'
import { isWorkingState, transcriptOf } from '../../../conversation/transcript.ts'
import { TranscriptView } from '../../../conversation/transcript-view.tsx'
import { lazyView } from '../../../components/layout/lazy-view.tsx'
import { isWaitingState } from '../../../components/status/task-states.ts'
import { createFoldToSeq } from '../events/fold-events.ts'
import { ReplayBar, type Replay } from '../replay/replay.tsx'
import type { TaskLog } from './task-log.ts'
import { selectEvent, taskPlaygroundHref } from '../task-links.ts'
import { a2aTaskOf } from './use-task.ts'

const OthersQuestion = lazyView(
  'the question',
  async () => (await import('../../../conversation/question/question-form.tsx')).OthersQuestion,
)

export interface ConversationTabProps {
  readonly detail: TaskDetail
  readonly log: TaskLog
  readonly replay: Replay
}

/** A user of the console answers in the playground; the question of another caller is shown. */
function WhoAnswers({
  detail,
  status,
}: Pick<ConversationTabProps, 'detail'> & { readonly status?: TaskStatus | undefined }) {
  const { agent, caller, callerName = caller } = detail
  if (caller !== consoleCaller()) return <OthersQuestion status={status} agent={agent} caller={callerName} />
  return (
    <a class="button primary" href={taskPlaygroundHref(detail)}>
      Answer in the playground
    </a>
  )
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
          {seq === undefined && isWaitingState(transcript.state) && (
            <WhoAnswers detail={detail} status={transcript.status} />
          )}
        </div>
      </div>
    </>
  )
}
