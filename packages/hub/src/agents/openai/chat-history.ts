/**
 * The history for a model: the earlier tasks of the caller's conversation and those that the message references, oldest
 * first, within limits; then the earlier turns of this task. It never contains tasks of other callers: the engine gives a
 * turn only those of its own caller.
 */
import { type Artifact, type Message, type Part, type Task, type Turn, isRedacted } from '@parley/a2a'
import type { ChatContent, ChatMessage, ChatModel } from '../chat-model.ts'

export interface HistoryBounds {
  readonly historyTasks: number
  readonly historyChars: number
  readonly historyFiles: number
}

/** Marks agent messages that describe progress and are not answers: the model did not write them. */
export const progressMarkerKey = 'aside'

type HistoryMessage = { readonly role: 'user' | 'assistant'; readonly parts: readonly Part[] }

/** The whole history before the message of this turn. */
export async function earlierMessages(turn: Turn, model: ChatModel, bounds: HistoryBounds): Promise<ChatMessage[]> {
  return toChatMessages(
    [...(await messagesOfEarlierTasks(turn, bounds)), ...(await messagesOfThisTask(turn))],
    turn,
    model,
    bounds,
  )
}

/** The history from other tasks. */
export async function earlierTasks(turn: Turn, model: ChatModel, bounds: HistoryBounds): Promise<ChatMessage[]> {
  return toChatMessages(await messagesOfEarlierTasks(turn, bounds), turn, model, bounds)
}

/** The text of earlier turns of this task. */
export async function earlierTurns(turn: Turn, model: ChatModel, bounds: HistoryBounds): Promise<ChatMessage[]> {
  return toChatMessages(await messagesOfThisTask(turn), turn, model, { ...bounds, historyFiles: 0 })
}

async function toChatMessages(
  said: readonly HistoryMessage[],
  turn: Turn,
  model: ChatModel,
  bounds: HistoryBounds,
): Promise<ChatMessage[]> {
  const messages: ChatMessage[] = []
  let chars = bounds.historyChars
  let files = bounds.historyFiles
  // From the newest backwards, until the limit is reached.
  for (const { role, parts } of said.toReversed()) {
    const content = await tell(role, parts)
    chars -= lengthOf(content)
    if (chars < 0) break
    if (content.length > 0) messages.unshift(toChatMessage(role, content))
  }
  return messages

  async function tell(role: HistoryMessage['role'], parts: readonly Part[]): Promise<readonly ChatContent[]> {
    const contents = await Promise.all(
      parts.map(async (part): Promise<ChatContent> => {
        if ('text' in part || 'data' in part) return (await model.read([part], turn.signal))[0] as ChatContent
        // Assistant messages contain text only: other parts are only mentioned.
        if (role === 'assistant') return fileMention(part)
        files -= 1
        return files < 0 ? fileMention(part) : earlierFile(part)
      }),
    )
    return contents.filter((content) => content.type !== 'text' || content.text !== '')
  }

  /** A file that is no longer available, or too large, does not end the conversation. */
  async function earlierFile(part: Part): Promise<ChatContent> {
    try {
      return (await model.read([part], turn.signal))[0] as ChatContent
    } catch (reason) {
      turn.signal.throwIfAborted()
      turn.log.debug('a file of an earlier message is omitted', { cause: reason })
      return fileMention(part)
    }
  }
}

/** A user message. A single text is not sent as a list, which some endpoints do not support. */
export function userMessage(content: readonly ChatContent[]): ChatMessage {
  return { role: 'user', content: content.every(isText) ? textOf(content) : content }
}

function toChatMessage(role: HistoryMessage['role'], content: readonly ChatContent[]): ChatMessage {
  return role === 'user' ? userMessage(content) : { role, content: textOf(content) }
}

async function messagesOfEarlierTasks(turn: Turn, { historyTasks }: HistoryBounds): Promise<readonly HistoryMessage[]> {
  if (historyTasks === 0) return []
  const context = (await turn.context()).slice(-historyTasks)
  const referred = await turn.references()
  const known = new Set([turn.task.id, ...context.map(({ id }) => id)])
  return [...referred.filter(({ id }) => !known.has(id)), ...context].flatMap(messagesOfTask)
}

/** A task that failed contributes nothing: its question was usually repeated. */
function messagesOfTask({ history = [], artifacts = [], status }: Task): readonly HistoryMessage[] {
  const answers = artifacts.map(messageOfArtifact)
  const last = status.state === 'TASK_STATE_COMPLETED' && artifacts.length === 0 ? status.message : undefined
  const words = last === undefined ? answers : [{ role: 'assistant' as const, parts: last.parts }]
  return words.length === 0 ? [] : [...history.flatMap(historyMessages), ...words]
}

/** Artifact ids contain the number of their turn, so each is placed after the message that requested it. */
async function messagesOfThisTask(turn: Turn): Promise<readonly HistoryMessage[]> {
  const earlier = (await turn.history()).filter(({ messageId }) => messageId !== turn.message.messageId)
  if (earlier.length === 0) return []
  // Output of an interrupted run of this turn is excluded, because it is produced again.
  const turns = earlier.filter(({ role }) => role === 'ROLE_USER').length
  const artifacts = (await turn.artifacts()).filter(({ artifactId }) => turnOf(artifactId) <= turns)
  let asked = 0
  return earlier.flatMap((message) => {
    if (message.role !== 'ROLE_USER') return historyMessages(message)
    asked += 1
    return [
      ...historyMessages(message),
      ...artifacts.filter(({ artifactId }) => turnOf(artifactId) === asked).map(messageOfArtifact),
    ]
  })
}

function turnOf(artifactId: string): number {
  return Number(/^[a-z]+-(\d+)(\.\d+)?$/.exec(artifactId)?.[1] ?? 1)
}

function messageOfArtifact({ parts }: Artifact): HistoryMessage {
  return { role: 'assistant', parts }
}

function historyMessages(message: Message): readonly HistoryMessage[] {
  const isAside = message.metadata?.[progressMarkerKey] !== undefined
  const parts = message.parts.filter((part) => !isRedacted(part))
  if (isAside || parts.length === 0) return []
  return [{ role: message.role === 'ROLE_USER' ? 'user' : 'assistant', parts }]
}

function fileMention({ filename, mediaType }: Part): ChatContent {
  return { type: 'text', text: `[${filename ?? 'a file'}${mediaType === undefined ? '' : `, ${mediaType}`}]` }
}

function isText(content: ChatContent): content is Extract<ChatContent, { type: 'text' }> {
  return content.type === 'text'
}

function textOf(content: readonly ChatContent[]): string {
  return content.map((part) => (isText(part) ? part.text : '[a file]')).join('\n')
}

/** Files have a separate limit. */
function lengthOf(content: readonly ChatContent[]): number {
  return content.reduce((sum, part) => sum + (isText(part) ? part.text.length : 0), 0)
}
