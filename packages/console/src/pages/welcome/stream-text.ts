/** The streamed answer of an agent: its text, its task and the state. */

export interface StreamText {
  readonly taskId: string | undefined
  readonly state: string | undefined
  readonly text: string
}

export const emptyStreamText: StreamText = { taskId: undefined, state: undefined, text: '' }

interface TextPartLike {
  readonly text?: unknown
}
interface MessageLike {
  readonly parts?: readonly TextPartLike[]
}
interface StatusLike {
  readonly state?: string
  readonly message?: MessageLike
}
/** An event of A2A 1.0, as far as it is used here. */
export interface StreamPayload {
  readonly task?: { readonly id?: string; readonly status?: StatusLike; readonly artifacts?: readonly MessageLike[] }
  readonly message?: MessageLike
  readonly statusUpdate?: { readonly taskId?: string; readonly status?: StatusLike }
  readonly artifactUpdate?: { readonly taskId?: string; readonly artifact?: MessageLike }
}

export function appendStreamEvent(before: StreamText, event: StreamPayload): StreamText {
  const { task, message, statusUpdate, artifactUpdate } = event
  const status = statusUpdate?.status ?? task?.status
  const said = [
    ...(task?.artifacts ?? []).map(textIn),
    textIn(artifactUpdate?.artifact),
    textIn(message),
    // A working status message is transient; one of a question or a failure is the answer.
    isAnswer(status?.state) ? textIn(status?.message) : '',
  ]
  return {
    taskId: task?.id ?? statusUpdate?.taskId ?? artifactUpdate?.taskId ?? before.taskId,
    state: status?.state ?? before.state,
    text: before.text + said.join(''),
  }
}

function textIn(says: MessageLike | undefined): string {
  return (says?.parts ?? []).map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}

function isAnswer(state: string | undefined): boolean {
  return state !== undefined && !/_(SUBMITTED|WORKING)$/.test(state)
}
