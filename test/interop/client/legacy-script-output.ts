/** How the servers of 0.2 and 0.3 publish what a script does: their events have one shape. */
import type { EndState, ScriptOutput } from './agent-script.ts'

export interface LegacyContext {
  readonly taskId: string
  readonly contextId: string
  readonly userMessage: { readonly parts: readonly object[] }
  readonly task?: object
}

const spelled: Readonly<Record<EndState, string>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  REJECTED: 'rejected',
  CANCELED: 'canceled',
  INPUT_REQUIRED: 'input-required',
  AUTH_REQUIRED: 'auth-required',
}

/** `publish` gets an event of their own type unions. */
export function legacyScriptOutput(
  { taskId, contextId, userMessage, task }: LegacyContext,
  publish: (event: any) => void,
): ScriptOutput {
  const [first] = userMessage.parts
  const said = (text: string) => ({
    kind: 'message',
    role: 'agent',
    messageId: crypto.randomUUID(),
    taskId,
    contextId,
    parts: [{ kind: 'text', text }],
  })
  const statusOf = (state: string, text?: string) => ({
    state,
    timestamp: new Date().toISOString(),
    ...(text !== undefined ? { message: said(text) } : {}),
  })
  const update = (status: object, final: boolean) =>
    publish({ kind: 'status-update', taskId, contextId, status, final })
  const artifact = (artifactId: string, parts: readonly object[], append: boolean, lastChunk: boolean) =>
    publish({ kind: 'artifact-update', taskId, contextId, artifact: { artifactId, parts }, append, lastChunk })
  return {
    text: first !== undefined && 'text' in first ? String(first.text) : '',
    contextId,
    isAnswer: task !== undefined,
    open() {
      const begun = { kind: 'task', id: taskId, contextId, status: statusOf('submitted'), history: [userMessage] }
      publish(task ?? begun)
    },
    working: (text) => update(statusOf('working', text), false),
    chunk: (id, text, { append, last }) => artifact(id, [{ kind: 'text', text }], append, last),
    showParts() {
      const file = { name: 'a.bin', mimeType: 'application/x-a', bytes: 'AQL/' }
      const parts = [
        { kind: 'data', data: { rows: [1, 2.5], ok: true } },
        { kind: 'file', file },
      ]
      artifact('shown', parts, false, true)
      artifact('mirror', userMessage.parts, false, true)
    },
    end: (state, text) => update(statusOf(spelled[state], text), true),
    reply(text) {
      const { taskId: _, ...message } = said(text)
      publish(message)
    },
  }
}
