/** A task as a person reads it: who said what, what was made, and where it stands. The playground and the tasks show the same. */
import type { Task } from '@parley/a2a'
import { useMemo } from 'preact/hooks'
import type { LogRecord } from '../api/admin.ts'
import { isAtWork, talkOf } from './talk.ts'
import { TalkView } from './talk-view.tsx'
import './conversation.css'

export interface ConversationProps {
  /** As A2A 1.0 writes it, with its history and artifacts. */
  readonly task: Task
  readonly agent: string
  /** When its first event was, which may have been dropped from the log. */
  readonly createdAt?: string | undefined
  /** Its log, which knows when what was said, and in which order. */
  readonly events?: readonly LogRecord[] | undefined
  /** The number of the last event that `task` shows. */
  readonly head?: number | undefined
  /** The number of the event that is selected. */
  readonly selected?: number | undefined
  readonly onSelect?: ((seq: number) => void) | undefined
}

export function Conversation({ task, agent, createdAt, events, head, selected, onSelect }: ConversationProps) {
  const talk = useMemo(() => talkOf(task, events, head, createdAt), [task, events, head, createdAt])
  return (
    <div class="conversation">
      <TalkView talk={talk} agent={agent} isBusy={isAtWork(talk.state)} selected={selected} onSelect={onSelect} />
    </div>
  )
}
