/** Messages of the AI SDK: from a conversation, from answers, and as JSON that a checkpoint or the memory of a conversation holds. */
import type { Turn } from '../../agents/agent.ts'
import { bytesToBase64 } from '../../client/attachment-part.ts'
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

/** The conversation so far, and the message of this turn. */
export async function startMessages(
  turn: Turn,
  options: AdapterOptions & { readonly memory?: boolean },
): Promise<readonly ModelMessage[]> {
  const isKept = options.memory !== false
  const known = isKept ? ((await turn.store.get(memoryKey)) ?? (await turn.store.earlier(memoryKey))) : undefined
  const before = Array.isArray(known) ? (known as unknown as readonly ModelMessage[]) : await historyOf(turn, options)
  const parts = await incomingParts(turn, options)
  return [...before, { role: 'user', content: parts.map(contentOf) }]
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
export async function rememberMessages(turn: Turn, messages: readonly ModelMessage[]): Promise<void> {
  const small = messages.map(withoutLargeFiles)
  let size = JSON.stringify(small).length
  let first = 0
  while (size > maxMemoryCharacters || (first > 0 && first < small.length && small[first]?.role !== 'user')) {
    size -= JSON.stringify(small[first] ?? '').length
    first += 1
    if (first >= small.length) return
  }
  await turn.store.set(memoryKey, small.slice(first))
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
