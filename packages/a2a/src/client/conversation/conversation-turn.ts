/**
 * A turn of a conversation: sends a message and answers the agent's questions on the way, if the caller provided a handler, so
 * that the events continue without a break.
 */
import { A2AError } from '../../model/error.ts'
import { clientToolsExtension, credentialsExtension } from '../../model/extension.ts'
import { isInterrupted, isTerminal } from '../../model/state.ts'
import { type StreamEvent, taskIdOfEvent, type TaskStatus } from '../../model/task.ts'
import { textOfParts } from '../agent-response.ts'
import type {
  ConversationOptions,
  EventStream,
  RemoteAgent,
  MessageInput,
  SendOptions,
  StreamOptions,
  TaskResponse,
  EventFrame,
} from '../contract.ts'
import { abortable } from '../../model/signals.ts'
import { responseFrom, createStreamState, applyEvent } from '../stream/stream-state.ts'

export interface ConversationState {
  contextId: string | undefined
  /** The task that waits for an answer. */
  taskId: string | undefined
  /** The task was begun elsewhere and may have ended since. */
  isTaskUnverified: boolean
  /** Identifies the pending question: peers begin the next response by repeating it. */
  pendingQuestionId: string | undefined
  readonly tasks: Map<string, Set<string>>
}

type Agent = Pick<RemoteAgent, 'stream' | 'get'>
type TurnOptions = SendOptions & StreamOptions & { readonly signal: AbortSignal }
type FrameGenerator = AsyncGenerator<EventFrame, void, undefined>

const perMessageOption = /^(messageId|taskId|contextId|referenceTaskIds|files|data|push|lastEventId)$/

export async function* runConversationTurn(
  agent: Agent,
  options: ConversationOptions,
  conversation: ConversationState,
  first: MessageInput,
  about: TurnOptions,
): FrameGenerator {
  const { onEvent, maxRounds = 100 } = options
  if (conversation.isTaskUnverified) await refreshTask(agent, conversation, about)
  const { signal } = about
  const others = Object.entries(about).filter(([name]) => !perMessageOption.test(name))
  const streamState = createStreamState()
  let input: MessageInput | undefined = first
  for (let round = 0; input !== undefined; round++) {
    const how = round === 0 ? about : { ...Object.fromEntries(others), signal }
    for await (const frame of runRound(agent, options, conversation, input, how)) {
      applyEvent(streamState, frame.event)
      onEvent?.(frame.event)
      yield frame
    }
    const answer = responseFrom(streamState)
    if (answer?.kind !== 'task' || !isInterrupted(answer.status.state) || round >= maxRounds) return
    input = await abortable(signal, answerInputRequest(answer, options, signal))
  }
}

/** Sends one message and yields its events, until the agent asks a question or is done. */
async function* runRound(
  agent: Agent,
  { tools }: ConversationOptions,
  conversation: ConversationState,
  input: MessageInput,
  about: TurnOptions,
): FrameGenerator {
  const { contextId, taskId, pendingQuestionId: answered } = conversation
  const toolSupport = tools && { tools, ...(await import('./client-tools.ts')) }
  const stream = agent.stream(toolSupport ? toolSupport.withToolList(input, toolSupport.tools) : input, {
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
    ...about,
    ...(toolSupport && { extensions: [...(about.extensions ?? []), clientToolsExtension] }),
  })
  let isFirst = true
  try {
    for await (const frame of stream.frames()) {
      const asks = updateState(conversation, frame.event)
      recordRelatedTasks(conversation, stream)
      yield frame
      // Some peers leave the stream open for the answer, and some begin with the task state from before the answer.
      if (asks && !(isFirst && 'task' in frame.event && conversation.pendingQuestionId === answered)) return
      isFirst = false
    }
  } catch (reason) {
    // A task that accepts no more messages must not get the next one either.
    if (isFirst && reason instanceof A2AError && /^(TASK_NOT_FOUND|UNSUPPORTED_OP)/.test(reason.code)) {
      conversation.taskId = undefined
    }
    throw reason
  }
}

/** Returns whether the task waits for the client now. */
function updateState(conversation: ConversationState, event: StreamEvent): boolean {
  const [{ contextId, status }] = Object.values(event) as [
    { readonly contextId?: string; readonly status?: TaskStatus },
  ]
  conversation.contextId = contextId || conversation.contextId
  if (status === undefined) return false
  const asks = isInterrupted(status.state)
  conversation.taskId = asks ? taskIdOfEvent(event) : undefined
  conversation.pendingQuestionId = asks ? status.message?.messageId || status.timestamp : undefined
  return asks
}

function recordRelatedTasks({ tasks }: ConversationState, { taskId, relatedTaskIds }: EventStream): void {
  if (taskId === undefined) return
  const related = tasks.get(taskId) ?? new Set()
  tasks.set(taskId, related)
  // A client tool answers with a reference to the task that called it.
  for (const id of relatedTaskIds) if (id !== taskId) related.add(id)
}

async function refreshTask(agent: Agent, conversation: ConversationState, { signal }: TurnOptions): Promise<void> {
  try {
    const task = await agent.get(conversation.taskId ?? '', { signal, historyLength: 0 })
    updateState(conversation, { task })
    conversation.taskId = isTerminal(task.status.state) ? undefined : task.id
  } catch (reason) {
    if (!(reason instanceof A2AError) || reason.code !== 'TASK_NOT_FOUND') throw reason
    conversation.taskId = undefined
  }
  conversation.isTaskUnverified = false
}

async function answerInputRequest(
  task: TaskResponse,
  options: ConversationOptions,
  signal: AbortSignal,
): Promise<MessageInput | undefined> {
  const { message, state } = task.status
  const asked = {
    text: textOfParts(message?.parts),
    message,
    task,
    isAuthRequired: state === 'TASK_STATE_AUTH_REQUIRED',
    sensitive: false,
  }
  const ours = [clientToolsExtension, credentialsExtension]
  const isExtensionRequest = [message, ...(message?.parts ?? [])].some((said) =>
    ours.some((uri) => said?.metadata?.[uri]),
  )
  if (!isExtensionRequest) return (await options.onInputRequired?.(asked)) ?? undefined
  return (await import('./client-tools.ts')).answerExtensionRequest(asked, options, signal)
}
