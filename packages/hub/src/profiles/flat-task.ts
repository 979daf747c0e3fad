/** A task as programs from before the protocol had interfaces read it: flat, with four states and all that was said (S0-1…S0-3). */
import { isInterrupted } from '@parley/a2a'
import type { Artifact, Message, Part, Task, TaskState } from '@parley/a2a'

export type FlatState = 'submitted' | 'working' | 'completed' | 'failed'

export interface FlatMessage {
  readonly role: 'user' | 'agent'
  readonly parts: readonly { readonly type: 'text'; readonly text: string }[]
}

export interface FlatTask {
  readonly id: string
  readonly state: FlatState
  readonly messages: readonly FlatMessage[]
  /** The conversation that it belongs to. */
  readonly sessionId: string | null
  /** Who the session was made for: these calls come from agents. */
  readonly source: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** Only ever forward: what waits for somebody is still at work (S0-15). */
const states: Readonly<Partial<Record<TaskState, FlatState>>> = {
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'failed',
  TASK_STATE_REJECTED: 'failed',
}

export function flatTask(task: Task): FlatTask {
  const { id, contextId, status, history = [], artifacts = [] } = task
  const updatedAt = status.timestamp ?? new Date(0).toISOString()
  return {
    id,
    state: states[status.state] ?? 'working',
    messages: [...history.flatMap(flatMessage), ...artifacts.flatMap(saidBy), ...lastWord(task)],
    sessionId: contextId ?? null,
    source: sourceOf(history),
    createdAt: madeAt(id) ?? updatedAt,
    updatedAt,
  }
}

function flatMessage(message: Message): readonly FlatMessage[] {
  return textsOf(message.parts, message.role === 'ROLE_USER' ? 'user' : 'agent')
}

function saidBy({ parts }: Artifact): readonly FlatMessage[] {
  return textsOf(parts, 'agent')
}

/** What the status says stands in the history only once the next one has come. */
function lastWord({ status, history = [] }: Task): readonly FlatMessage[] {
  const { message, state } = status
  const isKept = history.some(({ messageId }) => messageId === message?.messageId)
  if (message === undefined || isKept) return []
  const said = textsOf(message.parts, 'agent')
  // An answer that is also there as an artifact is not to hide behind "working on it".
  return states[state] === undefined && !isInterrupted(state) ? [] : said
}

function textsOf(parts: readonly Part[], role: FlatMessage['role']): readonly FlatMessage[] {
  const texts = parts.flatMap((part) => {
    if ('text' in part) return [part.text]
    return 'data' in part ? [JSON.stringify(part.data)] : []
  })
  return texts.length === 0 ? [] : [{ role, parts: texts.map((text) => ({ type: 'text', text })) }]
}

function sourceOf([first]: readonly Message[]): string {
  const source = first?.metadata?.['source']
  return typeof source === 'string' ? source : 'user'
}

/** The ids that we make begin with the time (UUIDv7). */
function madeAt(id: string): string | undefined {
  const time = /^([\da-f]{8})-([\da-f]{4})-7/.exec(id)
  return time === null ? undefined : new Date(Number.parseInt(`${time[1]}${time[2]}`, 16)).toISOString()
}
