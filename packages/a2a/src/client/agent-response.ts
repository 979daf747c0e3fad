/** The response of an agent, told apart by `kind`, and its text. */
import { A2AError } from '../model/error.ts'
import type { SendMessageResponse } from '../model/operation.ts'
import { hasSettled, isInterrupted } from '../model/state.ts'
import type { Part, Task } from '../model/task.ts'
import type { AgentResponse, TaskResponse } from './contract.ts'

export const toTaskResponse = (task: Task): TaskResponse => ({ kind: 'task', ...task })

export function toAgentResponse(result: SendMessageResponse): AgentResponse {
  return 'task' in result ? toTaskResponse(result.task) : { kind: 'message', ...result.message }
}

export function textOfParts(parts: readonly Part[] = []): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

/** The text of the artifacts, or else of the agent's last message, in any task state. */
export function extractText(answer: AgentResponse): string {
  if (answer.kind === 'message') return textOfParts(answer.parts)
  const artifacts = (answer.artifacts ?? []).map(({ parts }) => textOfParts(parts)).join('')
  return artifacts !== '' ? artifacts : lastAgentText(answer)
}

function lastAgentText({ status, history = [] }: Task): string {
  return textOfParts((status.message ?? history.findLast(({ role }) => role === 'ROLE_AGENT'))?.parts)
}

/**
 * Like `extractText`, but throws INPUT_REQUIRED if the agent asks for input and TASK_FAILED if the task did not
 * succeed.
 */
export function requireCompletedText(answer: AgentResponse): string {
  if (answer.kind === 'task' && answer.status.state !== 'TASK_STATE_COMPLETED') {
    const { id: taskId, contextId, status } = answer
    const { state } = status
    const asks = isInterrupted(state)
    const said = textOfParts(status.message?.parts)
    const what = asks ? 'The agent asks for input' : `The task ${hasSettled(state) ? 'ended as' : 'is still'} ${state}`
    throw new A2AError(asks ? 'INPUT_REQUIRED' : 'TASK_FAILED', said === '' ? what : said, {
      taskId,
      state,
      ...(contextId !== undefined && { contextId }),
    })
  }
  return extractText(answer)
}
