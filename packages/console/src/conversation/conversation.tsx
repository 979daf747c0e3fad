/** A task as a person reads it: who said what, what was made, and where it stands. The playground and the tasks show the same. */
import type { Task } from '@parley/a2a'
import { State } from '../parts/state.tsx'

export interface ConversationProps {
  /** As A2A 1.0 writes it, with its history and artifacts. */
  readonly task: Task
  readonly agent: string
}

export function Conversation({ task }: ConversationProps) {
  return <State state={task.status.state} />
}
