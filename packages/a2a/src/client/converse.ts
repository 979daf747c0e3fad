/**
 * A turn of a conversation: a message goes out, and what the agent asks back is answered on the way, if somebody here
 * can, so that the events go on as if it had never stopped.
 */
import { A2AError } from '../model/error.ts'
import { clientToolsExtension, credentialsExtension } from '../model/extension.ts'
import { isInterrupted, isTerminal } from '../model/state.ts'
import type { StreamEvent } from '../model/task.ts'
import { textOf } from './answer.ts'
import type {
  ChatOptions,
  EventStream,
  RemoteAgent,
  Saying,
  SendOptions,
  StreamOptions,
  TaskAnswer,
  WireEvent,
} from './contract.ts'
import { until } from './until.ts'
import { answerFrom, emptyReduction, reduce } from './reduce.ts'

export interface Conversation {
  contextId: string | undefined
  /** The task that waits for an answer. */
  taskId: string | undefined
  /** It was begun elsewhere and may have ended since. */
  isUnsure: boolean
  /** What it asks, to know it again: peers begin the next answer by saying it once more. */
  question: string | undefined
  readonly tasks: Map<string, Set<string>>
}

type Agent = Pick<RemoteAgent, 'stream' | 'get'>
type About = SendOptions & StreamOptions & { readonly signal: AbortSignal }
type Frames = AsyncGenerator<WireEvent, void, undefined>

const ofOneMessage = /^(messageId|taskId|contextId|referenceTaskIds|files|data|push|lastEventId)$/

export async function* converse(
  agent: Agent,
  options: ChatOptions,
  talk: Conversation,
  first: Saying,
  about: About,
): Frames {
  const { onEvent, maxRounds = 100 } = options
  if (talk.isUnsure) await look(agent, talk, about)
  const { signal } = about
  const others = Object.entries(about).filter(([name]) => !ofOneMessage.test(name))
  const sum = emptyReduction()
  let saying: Saying | undefined = first
  for (let round = 0; saying !== undefined; round++) {
    const how = round === 0 ? about : { ...Object.fromEntries(others), signal }
    for await (const frame of oneRound(agent, options, talk, saying, how)) {
      reduce(sum, frame.event)
      onEvent?.(frame.event)
      yield frame
    }
    const answer = answerFrom(sum)
    if (answer?.kind !== 'task' || !isInterrupted(answer.status.state) || round >= maxRounds) return
    saying = await until(signal, reply(answer, options, signal))
  }
}

/** One message and what comes of it, until the agent asks or is done. */
async function* oneRound(
  agent: Agent,
  { tools }: ChatOptions,
  talk: Conversation,
  saying: Saying,
  about: About,
): Frames {
  const { contextId, taskId, question: answered } = talk
  const kit = tools && { tools, ...(await import('./tools.ts')) }
  const stream = agent.stream(kit ? kit.withTools(saying, kit.tools) : saying, {
    ...(contextId !== undefined ? { contextId } : {}),
    ...(taskId !== undefined ? { taskId } : {}),
    ...about,
    ...(kit ? { extensions: [...(about.extensions ?? []), clientToolsExtension] } : {}),
  })
  let isFirst = true
  try {
    for await (const frame of stream.frames()) {
      const asks = note(talk, frame.event)
      relate(talk, stream)
      yield frame
      // Some peers leave the stream open for the answer, and some begin with how the task stood before it came.
      if (asks && !(isFirst && 'task' in frame.event && talk.question === answered)) return
      isFirst = false
    }
  } catch (reason) {
    // What takes no more messages must not be sent the next one too.
    if (isFirst && reason instanceof A2AError && /^(TASK_NOT_FOUND|UNSUPPORTED_OP)/.test(reason.code)) {
      talk.taskId = undefined
    }
    throw reason
  }
}

/** Answers whether the task waits for us now. */
function note(talk: Conversation, event: StreamEvent): boolean {
  const [about] = Object.values(event) as { readonly contextId?: string }[]
  talk.contextId = about?.contextId || talk.contextId
  if (!('task' in event || 'statusUpdate' in event)) return false
  const { status } = 'task' in event ? event.task : event.statusUpdate
  const asks = isInterrupted(status.state)
  talk.taskId = asks ? ('task' in event ? event.task.id : event.statusUpdate.taskId) : undefined
  talk.question = asks ? status.message?.messageId || status.timestamp : undefined
  return asks
}

function relate({ tasks }: Conversation, { taskId, relatedTaskIds }: EventStream): void {
  if (taskId === undefined) return
  const related = tasks.get(taskId) ?? new Set()
  tasks.set(taskId, related)
  // A client's tool answers with a reference to the very task that asked.
  for (const id of relatedTaskIds) if (id !== taskId) related.add(id)
}

async function look(agent: Agent, talk: Conversation, { signal }: About): Promise<void> {
  try {
    const task = await agent.get(talk.taskId ?? '', { signal, historyLength: 0 })
    note(talk, { task })
    talk.taskId = isTerminal(task.status.state) ? undefined : task.id
  } catch (reason) {
    if (!(reason instanceof A2AError) || reason.code !== 'TASK_NOT_FOUND') throw reason
    talk.taskId = undefined
  }
  talk.isUnsure = false
}

async function reply(task: TaskAnswer, options: ChatOptions, signal: AbortSignal): Promise<Saying | undefined> {
  const { message, state } = task.status
  const asked = {
    text: textOf(message?.parts),
    message,
    task,
    auth: state === 'TASK_STATE_AUTH_REQUIRED',
    sensitive: false,
  }
  const ours = [clientToolsExtension, credentialsExtension]
  const isOfExtension = [message, ...(message?.parts ?? [])].some((said) => ours.some((uri) => said?.metadata?.[uri]))
  if (!isOfExtension) return (await options.onInputRequired?.(asked)) ?? undefined
  return (await import('./tools.ts')).reply(asked, options, signal)
}
