/**
 * The spelling of the versions, written a second time by hand: the matrix must not read it from the
 * codecs under test.
 */
import type { Message, TaskState } from '@parley/a2a'
import type { CellBinding } from './cells.ts'

/** 0.x has one form over JSON-RPC and another over REST; 1.x has one for both. */
export type Form = '1.x' | '0.x JSON-RPC' | '0.x REST'

export const isLegacy = ({ version }: Pick<CellBinding, 'version'>): boolean => version.startsWith('0.')

export function formOf({ version, binding }: CellBinding): Form {
  if (isLegacy({ version })) return binding === 'JSONRPC' ? '0.x JSON-RPC' : '0.x REST'
  return '1.x'
}

/** `TASK_STATE_INPUT_REQUIRED` is `input-required` over JSON-RPC before 1.0, and CANCELED had two Ls over REST. */
export function stateIn(form: Form, state: TaskState): string {
  if (form === '1.x') return state
  if (form === '0.x REST') return state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state
  return state.slice('TASK_STATE_'.length).toLowerCase().replaceAll('_', '-')
}

/** The task inside the answer to a send, or inside the first event of a stream. */
export function taskIn(form: Form, payload: any): any {
  return form === '0.x JSON-RPC' ? (payload.kind === 'task' ? payload : undefined) : payload.task
}

export function messageIn(form: Form, payload: any): any {
  return form === '0.x JSON-RPC' ? (payload.kind === 'message' ? payload : undefined) : payload.message
}

export function statusUpdateIn(form: Form, payload: any): any {
  return form === '0.x JSON-RPC' ? (payload.kind === 'status-update' ? payload : undefined) : payload.statusUpdate
}

export function artifactUpdateIn(form: Form, payload: any): any {
  return form === '0.x JSON-RPC' ? (payload.kind === 'artifact-update' ? payload : undefined) : payload.artifactUpdate
}

/** The name of the list of parts of a message. In artifacts it is always `parts`. */
export const partsName = (form: Form): string => (form === '0.x REST' ? 'content' : 'parts')

/** The params or the body of a send with one text and nothing else. */
export function messageBodyIn(form: Form, messageId: string, text: string): unknown {
  switch (form) {
    case '1.x':
      return { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } }
    case '0.x JSON-RPC':
      return { message: { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }] } }
    case '0.x REST':
      return { message: { messageId, role: 'ROLE_USER', content: [{ text }] } }
  }
}

/** A message of the user in the model. */
export function messageParams(text: string, more: Partial<Message> = {}): { readonly message: Message } {
  return { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more } }
}
