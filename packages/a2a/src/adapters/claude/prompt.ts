/** What Claude gets: the message of the turn as content blocks, and a prompt that stays open until the run has ended. */
import type { Turn } from '../../agents/agent.ts'
import type { Part } from '../../model/task.ts'
import type { AdapterOptions } from '../adapter-options.ts'
import { earlierMessages, incomingParts, partText } from '../conversation-messages.ts'

/** A block of the Messages API. */
export type PromptBlock = Readonly<Record<string, unknown>> & { readonly type: string }

const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** The message of this turn. Without a session, the conversation so far comes first, as text. */
export async function promptBlocks(
  turn: Turn,
  options: AdapterOptions,
  hasSession: boolean,
): Promise<readonly PromptBlock[]> {
  const parts = await incomingParts(turn, options)
  const before = hasSession ? [] : await earlierMessages(turn, options.history)
  const blocks = parts.map(blockOf)
  if (before.length === 0) return blocks
  const lines = before.map(({ role, parts: said }) => `${role}: ${said.map(partText).join('\n')}`)
  return [textBlock(`The conversation so far:\n\n${lines.join('\n\n')}\n\nThe next message:`), ...blocks]
}

export function textBlock(text: string): PromptBlock {
  return { type: 'text', text }
}

function blockOf(part: Part): PromptBlock {
  if (!('raw' in part)) return textBlock(partText(part))
  const { raw, mediaType = 'application/octet-stream', filename } = part
  const source = { type: 'base64', media_type: mediaType, data: raw }
  if (imageTypes.has(mediaType)) return { type: 'image', source }
  const title = filename === undefined ? {} : { title: filename }
  if (mediaType === 'application/pdf') return { type: 'document', source, ...title }
  if (mediaType.startsWith('text/') || mediaType === 'application/json') {
    const bytes = Uint8Array.from(atob(raw), (char) => char.charCodeAt(0))
    const text = new TextDecoder().decode(bytes)
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
  }
  return textBlock(partText(part))
}

/** The messages that the user sends during a run. The run goes on until `end`. */
export interface OpenPrompt extends AsyncIterable<object> {
  send(content: readonly PromptBlock[]): void
  end(): void
}

export function openPrompt(): OpenPrompt {
  const queue: object[] = []
  let isOver = false
  let changed = Promise.withResolvers<void>()
  function wake(): void {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  return {
    send(content) {
      queue.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null })
      wake()
    },
    end() {
      isOver = true
      wake()
    },
    async *[Symbol.asyncIterator]() {
      while (!isOver || queue.length > 0) {
        const next = queue.shift()
        if (next === undefined) await changed.promise
        else yield next
      }
    },
  }
}
