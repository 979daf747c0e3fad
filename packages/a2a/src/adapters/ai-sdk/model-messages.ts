/** Messages of the AI SDK: from a conversation, from answers, and as JSON that a checkpoint or the memory of a conversation holds. */
import type { Turn } from '../../agents/agent.ts'
import { bytesToBase64 } from '../../client/attachment-part.ts'
import { isStruct } from '../../model/struct.ts'
import type { Json, Part } from '../../model/task.ts'
import type { AdapterOptions } from '../adapter-options.ts'
import { earlierMessages, incomingParts, partText } from '../conversation-messages.ts'
import type { RunAnswer } from '../questions.ts'
import type { ContentPart, ModelMessage } from './stream-parts.ts'

/** The conversation in the store of the turn. */
const memoryKey = 'ai-sdk/messages'
const maxMemoryCharacters = 500_000
/** Larger files of a conversation are only mentioned in its memory. */
const maxRememberedFile = 100_000

interface Memory {
  /** The message whose turn wrote this: a repeated turn starts with the messages before it. */
  readonly messageId: string
  /** How many messages are older than that turn. */
  readonly before: number
  readonly messages: readonly ModelMessage[]
}

/** A prompt, or what a run starts with. `before`: how many of its messages are older than the turn. */
export interface TurnMessages {
  readonly messages: readonly ModelMessage[]
  readonly before: number
}

/** The conversation so far, and the message of this turn. */
export async function startMessages(
  turn: Turn,
  options: AdapterOptions & { readonly memory?: boolean },
): Promise<TurnMessages> {
  const known = options.memory === false ? undefined : await rememberedMessages(turn)
  const before = known ?? (await historyOf(turn, options))
  const parts = await incomingParts(turn, options)
  return { messages: [...before, { role: 'user', content: parts.map(contentOf) }], before: before.length }
}

async function rememberedMessages(turn: Turn): Promise<readonly ModelMessage[] | undefined> {
  const own = readMemory(await turn.store.get(memoryKey))
  if (own === undefined) return readMemory(await turn.store.earlier(memoryKey))?.messages
  // The process died after the memory was written, before the end of the turn.
  return own.messageId === turn.message.messageId ? own.messages.slice(0, own.before) : own.messages
}

function readMemory(value: Json | undefined): Memory | undefined {
  // Older tasks hold only the messages.
  if (Array.isArray(value)) return { messageId: '', before: 0, messages: value as unknown as readonly ModelMessage[] }
  return isStruct(value) && Array.isArray(value['messages']) ? (value as unknown as Memory) : undefined
}

async function historyOf(turn: Turn, { history }: AdapterOptions): Promise<readonly ModelMessage[]> {
  const messages = await earlierMessages(turn, history)
  return messages.map(({ role, parts }) => ({ role, content: parts.map(partText).join('\n') }))
}

function contentOf(part: Part): ContentPart {
  if (!('raw' in part)) return { type: 'text', text: partText(part) }
  const { raw, mediaType = 'application/octet-stream', filename } = part
  return { type: 'file', data: raw, mediaType, ...(filename !== undefined ? { filename } : {}) }
}

/** Keeps the conversation for the next task of the context: the newest messages, from one of the user on. */
export async function rememberMessages(turn: Turn, { messages, before }: TurnMessages): Promise<void> {
  const small = messages.map(withoutLargeFiles)
  let size = JSON.stringify(small).length
  let first = 0
  while (size > maxMemoryCharacters || (first > 0 && first < small.length && small[first]?.role !== 'user')) {
    size -= JSON.stringify(small[first] ?? '').length
    first += 1
    if (first >= small.length) return
  }
  const memory: Memory = {
    messageId: turn.message.messageId,
    before: Math.max(0, before - first),
    messages: small.slice(first),
  }
  await turn.store.set(memoryKey, memory)
}

function withoutLargeFiles(message: ModelMessage): ModelMessage {
  if (typeof message.content === 'string') return message
  const content = message.content.map((part) => {
    const isLarge = part.type === 'file' && String(part.data).length > maxRememberedFile
    return isLarge ? { type: 'text', text: `[${part.filename ?? 'file'}, ${part.mediaType}]` } : part
  })
  return { ...message, content }
}

/** The answers of the caller, as the message that must be the last of the prompt. */
export function answerMessage(answers: readonly RunAnswer[], messages: readonly ModelMessage[]): ModelMessage {
  return { role: 'tool', content: answers.map((answer) => answerPart(answer, messages)) }
}

function answerPart(answer: RunAnswer, messages: readonly ModelMessage[]): ContentPart {
  if ('approved' in answer) {
    const { id, approved, reason } = answer
    return { type: 'tool-approval-response', approvalId: id, approved, ...(reason !== undefined ? { reason } : {}) }
  }
  const value = 'result' in answer ? answer.result : answer.value
  const isError = 'result' in answer && answer.isError
  const toolName = callsIn(messages).find(({ toolCallId }) => toolCallId === answer.id)?.['toolName']
  return { type: 'tool-result', toolCallId: answer.id, toolName, output: outputOf(value, isError) }
}

function outputOf(value: Json, isError: boolean): { readonly type: string; readonly value: Json } {
  if (isError) return { type: 'error-text', value: typeof value === 'string' ? value : JSON.stringify(value) }
  return { type: typeof value === 'string' ? 'text' : 'json', value }
}

/** Calls without a result: a prompt that ends with one is invalid. Calls that wait for an approval are among them. */
export function openCalls(messages: readonly ModelMessage[]): readonly ContentPart[] {
  const done = new Set(partsIn(messages, 'tool-result').map(({ toolCallId }) => toolCallId))
  return callsIn(messages).filter(({ toolCallId }) => !done.has(toolCallId))
}

/** The ids of the tool calls that wait for an approval. */
export function callsToApprove(messages: readonly ModelMessage[]): ReadonlySet<string | undefined> {
  return new Set(partsIn(messages, 'tool-approval-request').map(({ toolCallId }) => toolCallId))
}

function callsIn(messages: readonly ModelMessage[]): readonly ContentPart[] {
  return partsIn(messages, 'tool-call').filter((part) => part['providerExecuted'] !== true)
}

function partsIn(messages: readonly ModelMessage[], type: string): readonly ContentPart[] {
  return messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content.filter((p) => p.type === type)))
}

/** A copy as JSON: bytes become base64, which the AI SDK reads as well. */
export function jsonMessages(messages: readonly unknown[]): readonly ModelMessage[] {
  function withoutBytes(this: Record<string, unknown>, key: string, value: unknown): unknown {
    // Not `value`: a Buffer has a `toJSON` of its own.
    const given = this[key]
    return given instanceof Uint8Array ? bytesToBase64(given) : value
  }
  return JSON.parse(JSON.stringify(messages, withoutBytes)) as readonly ModelMessage[]
}
