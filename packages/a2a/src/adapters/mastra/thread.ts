/** The conversation in Mastra: its thread, and the message of a turn. */
import type { Turn } from '../../agents/agent.ts'
import type { Part } from '../../model/task.ts'
import type { AdapterOptions } from '../adapter-options.ts'
import { earlierMessages, incomingParts, partText } from '../conversation-messages.ts'
import type { MastraThread } from './stream-chunks.ts'

/** The thread is the conversation, the resource is the caller. */
export async function threadOf({ sessionKey, tenant, caller }: Turn): Promise<MastraThread> {
  // All anonymous callers have the same id, and must not share memory.
  const resource = caller.anonymous === true ? sessionKey : await digest([tenant, caller.id])
  return { thread: sessionKey, resource }
}

/**
 * The message of this turn, after the conversation so far if Mastra has no memory of it. Its id is the same when the turn runs again,
 * so that memory holds it once. It is not that of the message, which callers choose.
 */
export async function inputMessages(
  turn: Turn,
  options: AdapterOptions,
  hasMemory: boolean,
): Promise<readonly object[]> {
  const before = hasMemory ? [] : await earlierMessages(turn, options.history)
  const parts = await incomingParts(turn, options)
  const id = await digest([turn.sessionKey, turn.message.messageId])
  return [
    ...before.map(({ role, parts: content }) => ({ role, content: content.map(partText).join('\n') })),
    { id, role: 'user', parts: parts.map(messagePart) },
  ]
}

function messagePart(part: Part): object {
  if (!('raw' in part)) return { type: 'text', text: partText(part) }
  const { raw, mediaType = 'application/octet-stream', filename } = part
  const url = `data:${mediaType};base64,${raw}`
  return { type: 'file', url, mediaType, ...(filename !== undefined ? { filename } : {}) }
}

/** 40 hex digits. As JSON, so that different lists never give the same text. */
async function digest(words: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(words))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .slice(0, 40)
}
