/** What an agent says while it says it: the texts of a stream, its task, and how that stands. */

export interface Heard {
  readonly taskId: string | undefined
  readonly state: string | undefined
  readonly text: string
}

export const silence: Heard = { taskId: undefined, state: undefined, text: '' }

interface Part {
  readonly text?: unknown
}
interface Says {
  readonly parts?: readonly Part[]
}
interface Status {
  readonly state?: string
  readonly message?: Says
}
/** An event of 1.0, as far as it is shown here. */
export interface Event {
  readonly task?: { readonly id?: string; readonly status?: Status; readonly artifacts?: readonly Says[] }
  readonly message?: Says
  readonly statusUpdate?: { readonly taskId?: string; readonly status?: Status }
  readonly artifactUpdate?: { readonly taskId?: string; readonly artifact?: Says }
}

export function hear(before: Heard, event: Event): Heard {
  const { task, message, statusUpdate, artifactUpdate } = event
  const status = statusUpdate?.status ?? task?.status
  const said = [
    ...(task?.artifacts ?? []).map(textIn),
    textIn(artifactUpdate?.artifact),
    textIn(message),
    // What it says of its work is of the moment; what it asks or regrets is its answer.
    isAnswer(status?.state) ? textIn(status?.message) : '',
  ]
  return {
    taskId: task?.id ?? statusUpdate?.taskId ?? artifactUpdate?.taskId ?? before.taskId,
    state: status?.state ?? before.state,
    text: before.text + said.join(''),
  }
}

function textIn(says: Says | undefined): string {
  return (says?.parts ?? []).map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}

function isAnswer(state: string | undefined): boolean {
  return state !== undefined && !/_(SUBMITTED|WORKING)$/.test(state)
}
