/** What an agent answered, told apart by `kind`, and the text of it. */
import { A2AError } from '../model/error.ts'
import type { SendMessageResponse } from '../model/operation.ts'
import { hasSettled, isInterrupted } from '../model/state.ts'
import type { Part, Task } from '../model/task.ts'
import type { Answer, TaskAnswer } from './contract.ts'

export const taskAnswer = (task: Task): TaskAnswer => ({ kind: 'task', ...task })

export function answerOf(result: SendMessageResponse): Answer {
  return 'task' in result ? taskAnswer(result.task) : { kind: 'message', ...result.message }
}

export function textOf(parts: readonly Part[] = []): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

/** The artifacts' text, else that of the last thing the agent said, whatever has become of the task. */
export function textSaid(answer: Answer): string {
  if (answer.kind === 'message') return textOf(answer.parts)
  const artifacts = (answer.artifacts ?? []).map(({ parts }) => textOf(parts)).join('')
  return artifacts !== '' ? artifacts : lastWords(answer)
}

function lastWords({ status, history = [] }: Task): string {
  return textOf((status.message ?? history.findLast(({ role }) => role === 'ROLE_AGENT'))?.parts)
}

/** As `textSaid`; throws INPUT_REQUIRED where the agent asks back and TASK_FAILED where the task came to no good end. */
export function textOfAnswer(answer: Answer): string {
  if (answer.kind === 'task' && answer.status.state !== 'TASK_STATE_COMPLETED') {
    const { id: taskId, contextId, status } = answer
    const { state } = status
    const asks = isInterrupted(state)
    const said = textOf(status.message?.parts)
    const what = asks ? 'The agent asks for input' : `The task ${hasSettled(state) ? 'ended as' : 'is still'} ${state}`
    throw new A2AError(asks ? 'INPUT_REQUIRED' : 'TASK_FAILED', said === '' ? what : said, {
      taskId,
      state,
      ...(contextId !== undefined ? { contextId } : {}),
    })
  }
  return textSaid(answer)
}
