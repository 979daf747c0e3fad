/**
 * What was said before, as a model is told it: the earlier tasks of the caller's conversation and those that the message
 * refers to, oldest first, within bounds; then what this task has said already. Nobody else's tasks are among them: the
 * engine gives a turn those of its own caller alone.
 */
import { isRedacted } from '@parley/a2a'
import type { Artifact, Message, Part, Task, Turn } from '@parley/a2a'
import type { ChatContent, ChatMessage, ChatModel } from '../chat-model.ts'

export interface HistoryBounds {
  readonly historyTasks: number
  readonly historyChars: number
  readonly historyFiles: number
}

/** Marks messages of an agent that tell how it works, not what it answers: the model wrote none of them. */
export const asideKey = 'aside'

type Said = { readonly role: 'user' | 'assistant'; readonly parts: readonly Part[] }

/** All of it, up to and without the message of this turn. */
export async function earlierMessages(turn: Turn, model: ChatModel, bounds: HistoryBounds): Promise<ChatMessage[]> {
  return told([...(await saidInEarlierTasks(turn, bounds)), ...(await saidInThisTask(turn))], turn, model, bounds)
}

/** What this task has not to do with. */
export async function earlierTasks(turn: Turn, model: ChatModel, bounds: HistoryBounds): Promise<ChatMessage[]> {
  return told(await saidInEarlierTasks(turn, bounds), turn, model, bounds)
}

/** What earlier turns of this task said, as text. */
export async function earlierTurns(turn: Turn, model: ChatModel, bounds: HistoryBounds): Promise<ChatMessage[]> {
  return told(await saidInThisTask(turn), turn, model, { ...bounds, historyFiles: 0 })
}

async function told(
  said: readonly Said[],
  turn: Turn,
  model: ChatModel,
  bounds: HistoryBounds,
): Promise<ChatMessage[]> {
  const messages: ChatMessage[] = []
  let chars = bounds.historyChars
  let files = bounds.historyFiles
  // From the newest back, until there is no room.
  for (const { role, parts } of said.toReversed()) {
    const content = await tell(role, parts)
    chars -= lengthOf(content)
    if (chars < 0) break
    if (content.length > 0) messages.unshift(spoken(role, content))
  }
  return messages

  async function tell(role: Said['role'], parts: readonly Part[]): Promise<readonly ChatContent[]> {
    const told = await Promise.all(
      parts.map(async (part): Promise<ChatContent> => {
        if ('text' in part || 'data' in part) return (await model.read([part], turn.signal))[0] as ChatContent
        // Assistants say text: what else they gave is only mentioned.
        if (role === 'assistant') return mentioned(part)
        files -= 1
        return files < 0 ? mentioned(part) : earlierFile(part)
      }),
    )
    return told.filter((content) => content.type !== 'text' || content.text !== '')
  }

  /** One that is gone meanwhile, or too large, does not end the conversation. */
  async function earlierFile(part: Part): Promise<ChatContent> {
    try {
      return (await model.read([part], turn.signal))[0] as ChatContent
    } catch (reason) {
      turn.signal.throwIfAborted()
      turn.log.debug('a file of an earlier message is left out', { cause: reason })
      return mentioned(part)
    }
  }
}

/** A message of the user. One text needs no list, which not every endpoint understands. */
export function userMessage(content: readonly ChatContent[]): ChatMessage {
  return { role: 'user', content: content.every(isText) ? textOf(content) : content }
}

function spoken(role: Said['role'], content: readonly ChatContent[]): ChatMessage {
  return role === 'user' ? userMessage(content) : { role, content: textOf(content) }
}

async function saidInEarlierTasks(turn: Turn, { historyTasks }: HistoryBounds): Promise<readonly Said[]> {
  if (historyTasks === 0) return []
  const context = (await turn.context()).slice(-historyTasks)
  const referred = await turn.references()
  const known = new Set([turn.task.id, ...context.map(({ id }) => id)])
  return [...referred.filter(({ id }) => !known.has(id)), ...context].flatMap(saidIn)
}

/** A task that came to nothing said nothing: its question was most often asked again. */
function saidIn({ history = [], artifacts = [], status }: Task): readonly Said[] {
  const answers = artifacts.map(answered)
  const last = status.state === 'TASK_STATE_COMPLETED' && artifacts.length === 0 ? status.message : undefined
  const words = last === undefined ? answers : [{ role: 'assistant' as const, parts: last.parts }]
  return words.length === 0 ? [] : [...history.flatMap(heard), ...words]
}

/** Artifacts carry the number of the turn that made them, so each stands after the message that asked for it. */
async function saidInThisTask(turn: Turn): Promise<readonly Said[]> {
  const earlier = (await turn.history()).filter(({ messageId }) => messageId !== turn.message.messageId)
  if (earlier.length === 0) return []
  // What an interrupted run of this turn has said is said again.
  const turns = earlier.filter(({ role }) => role === 'ROLE_USER').length
  const artifacts = (await turn.artifacts()).filter(({ artifactId }) => turnOf(artifactId) <= turns)
  let asked = 0
  return earlier.flatMap((message) => {
    if (message.role !== 'ROLE_USER') return heard(message)
    asked += 1
    return [...heard(message), ...artifacts.filter(({ artifactId }) => turnOf(artifactId) === asked).map(answered)]
  })
}

function turnOf(artifactId: string): number {
  return Number(/^[a-z]+-(\d+)(\.\d+)?$/.exec(artifactId)?.[1] ?? 1)
}

function answered({ parts }: Artifact): Said {
  return { role: 'assistant', parts }
}

function heard(message: Message): readonly Said[] {
  const isAside = message.metadata?.[asideKey] !== undefined
  const parts = message.parts.filter((part) => !isRedacted(part))
  if (isAside || parts.length === 0) return []
  return [{ role: message.role === 'ROLE_USER' ? 'user' : 'assistant', parts }]
}

function mentioned({ filename, mediaType }: Part): ChatContent {
  return { type: 'text', text: `[${filename ?? 'a file'}${mediaType === undefined ? '' : `, ${mediaType}`}]` }
}

function isText(content: ChatContent): content is Extract<ChatContent, { type: 'text' }> {
  return content.type === 'text'
}

function textOf(content: readonly ChatContent[]): string {
  return content.map((part) => (isText(part) ? part.text : '[a file]')).join('\n')
}

/** Files have a bound of their own. */
function lengthOf(content: readonly ChatContent[]): number {
  return content.reduce((sum, part) => sum + (isText(part) ? part.text.length : 0), 0)
}
