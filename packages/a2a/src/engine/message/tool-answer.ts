/**
 * Some clients answer a question with a new message that names its task only by reference, and the question in a `tool-result` part
 * (S2-14). This finds the task that such a message continues. It rejects an answer that could be a secret but belongs to no open
 * question: as a new task it would be stored in clear.
 */
import { type A2AError, invalidParams } from '../../model/error.ts'
import { clientToolsExtension } from '../../model/extension.ts'
import { asksForSecret } from '../../model/secrets.ts'
import { isInterrupted } from '../../model/state.ts'
import type { Message, Part, Struct } from '../../model/task.ts'
import type { CallContext } from '../contract.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { TaskReader } from '../task/task-cache.ts'

/** Each reference costs a read. A message with more references than this is not searched for the task it answers. */
const maxReferences = 100

export interface ToolAnswerDeps {
  /** Any task, unless it is a large one of another caller. */
  find(id: string, reader: TaskReader): Promise<LoadedTask | undefined>
}

/** What is needed of a referenced task: a large one takes the memory of the one before it. */
interface ReferencedTask {
  readonly id: string
  readonly isAwaitingAny: boolean
  readonly isAwaitingAll: boolean
  readonly mightAnswerSecret: boolean
}

/**
 * The task that a message continues: the one it names, or the only one of its references that waits for exactly this answer.
 * `undefined` if the message opens a task. Throws INVALID_PARAMS for a result that answers no open question of that task while
 * another referenced task asked for a secret: the result may be that secret.
 */
export async function findAnsweredTask(
  message: Message,
  context: CallContext,
  deps: ToolAnswerDeps,
): Promise<string | undefined> {
  const { parts, taskId, referenceTaskIds } = message
  if (referenceTaskIds === undefined || !parts.some(isToolResult)) return taskId
  const ids = new Set(referenceTaskIds)
  if (ids.size > maxReferences) throw tooManyReferences()
  if (taskId !== undefined) ids.add(taskId)
  const referenced: ReferencedTask[] = []
  for (const id of ids) {
    const loaded = await deps.find(id, context)
    if (loaded === undefined || !isOwnedByCaller(loaded, context)) continue
    referenced.push({
      id: loaded.id,
      isAwaitingAny: loaded.partition.agent === context.agent && isAwaitingAny(loaded, message),
      isAwaitingAll: isAwaitingAll(loaded, message),
      mightAnswerSecret: mightAnswerSecret(loaded, message),
    })
  }
  context.releaseRead?.()
  const waiting = referenced.filter((task) => task.isAwaitingAny)
  const [only, ...others] = waiting
  const answered = taskId ?? (others.length === 0 ? only?.id : undefined)
  const secret = referenced.find((task) => task.id !== answered && task.mightAnswerSecret)
  const hasTaken = waiting.some((task) => task.id === answered && task.isAwaitingAll)
  if (secret !== undefined && !hasTaken) throw unmatchedAnswer(secret.id)
  return answered
}

/** Whether a message to a task may hold a secret that the task waits for, or that it asked for earlier. */
export function mightAnswerSecret({ fold: { status, history } }: LoadedTask, { parts }: Message): boolean {
  if (isInterrupted(status.state) && asksForSecret(status.message)) return true
  const answers = new Set(parts.flatMap(toolResultIds))
  if (answers.size === 0) return false
  return history.some((said) => asksForSecret(said) && requestIdsOf(said).some((id) => answers.has(id)))
}

/** Whether the task belongs to the caller, whatever its agent. */
function isOwnedByCaller({ isStored, partition }: LoadedTask, { tenant, caller }: CallContext): boolean {
  return isStored && partition.owner === caller.id && partition.tenant === tenant
}

/** Whether one of the results answers an open question of the task. */
function isAwaitingAny(loaded: LoadedTask, { parts }: Message): boolean {
  const open = openRequestsOf(loaded)
  return parts.flatMap(toolResultIds).some((id) => open.includes(id))
}

function isAwaitingAll(loaded: LoadedTask, { parts }: Message): boolean {
  const open = openRequestsOf(loaded)
  return parts.filter(isToolResult).every((part) => toolResultIds(part).some((id) => open.includes(id)))
}

function openRequestsOf({ fold: { status } }: LoadedTask): readonly string[] {
  const isOpen = status.state === 'TASK_STATE_INPUT_REQUIRED' && status.message !== undefined
  return isOpen ? requestIdsOf(status.message) : []
}

function unmatchedAnswer(taskId: string): A2AError {
  const description = 'matches no open question of the referenced task, which requested a secret'
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

/** The ids that a question asks for: an input request, calls of client tools, or the question itself. */
function requestIdsOf(question: Message): string[] {
  const about = question.metadata?.[clientToolsExtension] as Struct | undefined
  const request = about?.['inputRequest'] as Struct | undefined
  const calls = question.parts.map((part) => ('data' in part ? (part.data as Struct | null)?.['toolUseId'] : undefined))
  return [request?.['requestId'], ...calls, question.messageId].filter((id) => typeof id === 'string')
}
