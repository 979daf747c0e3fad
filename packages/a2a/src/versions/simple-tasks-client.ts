/**
 * The client side of simple tasks (simple-tasks.ts): the request to such a peer, and the task in its response. It
 * reads leniently and without the readers of the versions, so that a page loads little code for a rare kind of peer.
 */
import { A2AError } from '../model/error.ts'
import type { SendMessageRequest } from '../model/operation.ts'
import type { TaskState } from '../model/state.ts'
import type { Message, Part, Task } from '../model/task.ts'

const states: ReadonlyMap<unknown, TaskState> = new Map([
  ['submitted', 'TASK_STATE_SUBMITTED'],
  ['working', 'TASK_STATE_WORKING'],
  ['completed', 'TASK_STATE_COMPLETED'],
  ['failed', 'TASK_STATE_FAILED'],
])

/**
 * The body that submits a message. Some peers read the members in an envelope and some read them bare; the body has both
 * (S0-4).
 */
export function writeTaskSend({ message, metadata }: SendMessageRequest, timeoutMs?: number): object {
  if (message.taskId !== undefined) {
    throw new A2AError('UNSUPPORTED_OPERATION', 'The agent accepts only new tasks: a task cannot be continued')
  }
  const skill = metadata?.['skillId'] ?? message.metadata?.['skillId']
  const params = {
    message: message.parts.map(textOfPart).join('\n'),
    ...(typeof skill === 'string' ? { skill } : {}),
    ...(timeoutMs !== undefined ? { timeoutMs } : {}),
  }
  return { ...params, params }
}

function textOfPart(part: Part): string {
  if ('text' in part) return part.text
  if ('data' in part) return JSON.stringify(part.data)
  throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'The agent accepts only text')
}

/**
 * Decodes the task in a peer's response. The agent's last message is the response (S0-25): it becomes the status message once
 * the task has ended. Throws INVALID_AGENT_RESPONSE if the payload is not a task.
 */
export function readFlatTask(payload: unknown): Task {
  const { id, state: own, status, sessionId, updatedAt, messages } = fieldsOf(payload)
  if (typeof id !== 'string' || id === '') {
    throw new A2AError('INVALID_AGENT_RESPONSE', 'The peer returned a task without an id', {
      violations: [{ field: 'id', description: 'is required' }],
    })
  }
  // A task without a state is working; an unknown state is not an error (B-174).
  const given = own ?? fieldsOf(status)['state'] ?? 'working'
  const state = states.get(given) ?? 'TASK_STATE_UNSPECIFIED'
  const said = (Array.isArray(messages) ? messages : []).flatMap((one, index) => messageIn(one, `${id}:${index}`))
  const answer = /COMPLETED|FAILED/.test(state) ? said.findLast(({ role }) => role === 'ROLE_AGENT') : undefined
  const history = said.filter((message) => message !== answer)
  return {
    id,
    ...(typeof sessionId === 'string' && sessionId !== '' ? { contextId: sessionId } : {}),
    status: {
      state,
      ...(answer !== undefined ? { message: answer } : {}),
      ...(typeof updatedAt === 'string' ? { timestamp: updatedAt } : {}),
    },
    ...(history.length > 0 ? { history } : {}),
  }
}

function messageIn(value: unknown, messageId: string): Message[] {
  const { role, parts } = fieldsOf(value)
  if (!Array.isArray(parts)) return []
  const texts = parts.map((part) => fieldsOf(part)['text']).filter((text) => typeof text === 'string')
  return [{ messageId, role: role === 'agent' ? 'ROLE_AGENT' : 'ROLE_USER', parts: texts.map((text) => ({ text })) }]
}

/** Returns no fields for a value that is not an object. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Readonly<Record<string, unknown>>
}
