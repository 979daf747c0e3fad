/**
 * Some clients answer a question with a new message that names its task by reference alone and the question in a
 * `tool-result` part (S2-14). This finds the task that such a message continues, and refuses an answer that could be a
 * secret but belongs to no open question: as a new task it would be kept in clear.
 */
import { type A2AError, invalidParams } from '../model/error.ts'
import { clientToolsExtension } from '../model/extension.ts'
import { asksForSecret } from '../model/sensitive.ts'
import { isInterrupted } from '../model/state.ts'
import type { Message, Part, Struct } from '../model/task.ts'
import type { CallContext } from './contract.ts'
import type { Live } from './live.ts'

/** Each reference costs a read. A message with more references than this is not searched for the task it answers. */
const maxReferences = 100

export interface ToolAnswerDeps {
  /** Any task, of any caller. */
  find(id: string): Promise<Live | undefined>
}

/**
 * The task that a message without a `taskId` continues: the only one of its references that waits for just this answer.
 * `undefined` if the message opens a task. Throws INVALID_PARAMS for an answer that fits no open question while a
 * referenced task waits for a secret, and for one that comes after its secret question was closed.
 */
export async function findAnsweredTask(
  message: Message,
  context: CallContext,
  deps: ToolAnswerDeps,
): Promise<string | undefined> {
  const { parts, referenceTaskIds } = message
  if (referenceTaskIds === undefined || !parts.some(isToolResult)) return undefined
  const ids = [...new Set(referenceTaskIds)]
  if (ids.length > maxReferences) throw tooManyReferences()
  const referenced: Live[] = []
  for (const id of ids) {
    const live = await deps.find(id)
    if (live !== undefined && isOfCaller(live, context)) referenced.push(live)
  }
  const [answered, ...others] = referenced.filter((live) => waitsFor(live, message, context))
  if (answered !== undefined && others.length === 0) return answered.id
  const secret = referenced.find((live) => mayAnswerSecret(live, message))
  if (secret !== undefined) throw answersNothing(secret.id)
  return undefined
}

/** Whether a message to a task may hold a secret that the task waits for, or that it asked for earlier. */
export function mayAnswerSecret({ fold: { status, history } }: Live, { parts }: Message): boolean {
  if (isInterrupted(status.state) && asksForSecret(status.message)) return true
  const answers = new Set(parts.flatMap(toolResultIds))
  if (answers.size === 0) return false
  return history.some((said) => asksForSecret(said) && openRequests(said).some((id) => answers.has(id)))
}

/** Whether it is the caller's, whichever agent it is of. */
function isOfCaller({ opened, partition }: Live, { tenant, caller }: CallContext): boolean {
  return opened && partition.owner === caller.id && partition.tenant === tenant
}

function waitsFor({ fold: { status }, partition }: Live, { parts }: Message, { agent }: CallContext): boolean {
  if (partition.agent !== agent) return false
  if (status.state !== 'TASK_STATE_INPUT_REQUIRED' || status.message === undefined) return false
  const answers = parts.flatMap(toolResultIds)
  return openRequests(status.message).some((id) => answers.includes(id))
}

function answersNothing(taskId: string): A2AError {
  const description = 'answers no open question of the referenced task, which asked for a secret'
  return invalidParams([{ field: 'message.parts', description: `${description}: ${taskId}` }])
}

function tooManyReferences(): A2AError {
  const description = `must not be more than ${maxReferences} in a message with a tool-result`
  return invalidParams([{ field: 'message.referenceTaskIds', description }])
}

function isToolResult(part: Part): boolean {
  const about = part.metadata?.[clientToolsExtension] as Struct | undefined
  return about?.['type'] === 'tool-result'
}

function toolResultIds(part: Part): string[] {
  if (!isToolResult(part) || !('data' in part)) return []
  const id = (part.data as Struct | null)?.['toolUseId']
  return typeof id === 'string' ? [id] : []
}

/** The ids of what a question asks for: an input request, calls of tools that run at the client, or the question itself. */
function openRequests(question: Message): string[] {
  const about = question.metadata?.[clientToolsExtension] as Struct | undefined
  const request = about?.['inputRequest'] as Struct | undefined
  const calls = question.parts.map((part) => ('data' in part ? (part.data as Struct | null)?.['toolUseId'] : undefined))
  return [request?.['requestId'], ...calls, question.messageId].filter((id) => typeof id === 'string')
}
