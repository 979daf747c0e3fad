/** Items of the OpenAI Agents SDK: from a conversation, as its memory, and as parts of an answer. */
import type { Turn } from '../../agents/agent.ts'
import { isStruct } from '../../model/struct.ts'
import type { Part } from '../../model/task.ts'
import type { AdapterOptions } from '../adapter-options.ts'
import { toJson } from '../bounded-json.ts'
import { earlierMessages, incomingParts, partText } from '../conversation-messages.ts'
import type { ContentItem, InputItem } from './run-events.ts'

/** The conversation in the store of the turn. */
const memoryKey = 'openai-agents/items'
const maxMemoryCharacters = 500_000
/** Larger files of a conversation are only mentioned in its memory. */
const maxRememberedFile = 100_000

interface Memory {
  /** The message whose turn wrote this: a repeated turn starts with the items before it. */
  readonly messageId: string
  /** How many items are older than that turn. */
  readonly before: number
  readonly items: readonly InputItem[]
}

/** The conversation so far. */
export async function earlierItems(turn: Turn, { history }: AdapterOptions): Promise<readonly InputItem[]> {
  const own = await turn.store.get(memoryKey)
  if (isMemory(own)) return own.messageId === turn.message.messageId ? own.items.slice(0, own.before) : own.items
  const earlier = await turn.store.earlier(memoryKey)
  if (isMemory(earlier)) return earlier.items
  const messages = await earlierMessages(turn, history)
  return messages.map(({ role, parts }) => {
    const text = parts.map(partText).join('\n')
    return role === 'user'
      ? { role, content: text }
      : { role, status: 'completed', content: [{ type: 'output_text', text }] }
  })
}

/** The message of this turn. */
export async function messageItem(turn: Turn, options: AdapterOptions): Promise<InputItem> {
  const parts = await incomingParts(turn, options)
  return { role: 'user', content: parts.map(contentOf) }
}

function contentOf(part: Part): ContentItem {
  if (!('raw' in part)) return { type: 'input_text', text: partText(part) }
  const { raw, mediaType = 'application/octet-stream', filename } = part
  if (mediaType.startsWith('image/')) return { type: 'input_image', image: `data:${mediaType};base64,${raw}` }
  const format = /^audio\/(?:x-)?(wav|mp3|mpeg)$/.exec(mediaType)?.[1]
  if (format !== undefined) return { type: 'input_audio', audio: raw, format: format === 'mpeg' ? 'mp3' : format }
  return { type: 'input_file', file: `data:${mediaType};base64,${raw}`, filename: filename ?? 'file' }
}

/** Keeps the conversation for the next turn: the newest items, from a message of the user on. `before`: older than this turn. */
export async function rememberItems(turn: Turn, history: readonly InputItem[], before: number): Promise<void> {
  const items = (toJson(history) as unknown as readonly InputItem[]).map(withoutLargeFiles)
  let size = JSON.stringify(items).length
  let first = 0
  while (size > maxMemoryCharacters || (first > 0 && first < items.length && items[first]?.role !== 'user')) {
    size -= JSON.stringify(items[first] ?? '').length
    first += 1
    if (first >= items.length) return
  }
  const memory: Memory = {
    messageId: turn.message.messageId,
    before: Math.max(0, before - first),
    items: items.slice(first),
  }
  await turn.store.set(memoryKey, memory)
}

function withoutLargeFiles(item: InputItem): InputItem {
  if (!Array.isArray(item.content)) return item
  const content = (item.content as readonly ContentItem[]).map((part) => {
    const file = part.file ?? part.image ?? part.audio
    const isLarge = typeof file === 'string' && file.length > maxRememberedFile
    return isLarge && part.type.startsWith('input_')
      ? { type: 'input_text', text: `[${part.filename ?? part.type.slice('input_'.length)}]` }
      : part
  })
  return { ...item, content }
}

/** The text of messages among the items: of a model that does not stream. */
export function textOfItems(items: readonly InputItem[]): readonly string[] {
  return contentOfMessages(items).flatMap(({ type, text, refusal }) => {
    const written = type === 'output_text' ? text : type === 'refusal' ? refusal : undefined
    return written === undefined ? [] : [written]
  })
}

/** Images and audio that the model created. */
export function filesOfItems(items: readonly InputItem[]): readonly Part[] {
  return contentOfMessages(items).flatMap(({ type, image, audio, format }): readonly Part[] => {
    if (type === 'image' && typeof image === 'string') return [filePart(image, 'image/png')]
    if (type === 'audio' && typeof audio === 'string') return [{ raw: audio, mediaType: `audio/${format ?? 'wav'}` }]
    return []
  })
}

function contentOfMessages(items: readonly InputItem[]): readonly ContentItem[] {
  return items.flatMap(({ role, content }) =>
    role === 'assistant' && Array.isArray(content) ? (content as readonly ContentItem[]) : [],
  )
}

/** A file is base64, a data URL or another URL. */
function filePart(file: string, defaultType: string): Part {
  const data = /^data:([^;,]+);base64,/.exec(file)
  if (data !== null) return { raw: file.slice(data[0].length), mediaType: data[1] ?? defaultType }
  return /^https?:/.test(file) ? { url: file, mediaType: defaultType } : { raw: file, mediaType: defaultType }
}

function isMemory(value: unknown): value is Memory {
  return isStruct(value) && Array.isArray(value['items'])
}
