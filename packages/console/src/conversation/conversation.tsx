/** The transcript of a task: messages, artifacts and state. Shared by the playground and the task pages. */
import type { Task } from '@parley/a2a'
import { useMemo } from 'preact/hooks'
import type { LogRecord } from '../api/admin.ts'
import { isWorkingState, transcriptOf } from './transcript.ts'
import { TranscriptView } from './transcript-view.tsx'
import './conversation.css'

export interface ConversationProps {
  /** In the format of A2A 1.0, with history and artifacts. */
  readonly task: Task
  readonly agent: string
  /** Time of its first event, which may have been dropped from the log. */
  readonly createdAt?: string | undefined
  /** Its log, which has the times and the order. */
  readonly events?: readonly LogRecord[] | undefined
  /** Seq of the last event that `task` includes. */
  readonly head?: number | undefined
  /** Seq of the selected event. */
  readonly selected?: number | undefined
  readonly onSelect?: ((seq: number) => void) | undefined
}

export function Conversation({ task, agent, createdAt, events, head, selected, onSelect }: ConversationProps) {
  const transcript = useMemo(() => transcriptOf(task, events, head, createdAt), [task, events, head, createdAt])
  return (
    <div class="conversation">
      <TranscriptView
        transcript={transcript}
        agent={agent}
        isBusy={isWorkingState(transcript.state)}
        selected={selected}
        onSelect={onSelect}
      />
    </div>
  )
}
