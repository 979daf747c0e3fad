/** What the agent tells of its work, as reports: text and files as artifacts, everything else as status updates. */
import type { ContentBlock, SessionUpdate, ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk'
import type { Part, Report, Struct } from '@parley/a2a'
import { status } from '@parley/a2a'
import type { AcpEntry } from './entry.ts'

export type Shown = Pick<AcpEntry, 'thoughts' | 'tools'>

/** The text of an answer, put together from its chunks: messages of their own stand apart. */
export class Answer {
  #text: string
  #messageId: string | undefined

  /** `before` is what was said already. */
  constructor(before = '') {
    this.#text = before
  }

  get text(): string {
    return this.#text
  }

  /** What the chunk adds. */
  add(text: string, messageId: string | null | undefined): string {
    const isApart = typeof messageId === 'string' && this.#messageId !== undefined && messageId !== this.#messageId
    this.#messageId = messageId ?? this.#messageId
    const added = isApart && text !== '' && this.#text !== '' ? breakBefore(this.#text) + text : text
    this.#text += added
    return added
  }
}

function breakBefore(text: string): string {
  if (text.endsWith('\n\n')) return ''
  return text.endsWith('\n') ? '\n' : '\n\n'
}

/** Content that is not text, as a part. */
export function partOf(content: ContentBlock): Part | undefined {
  switch (content.type) {
    case 'text':
      return { text: content.text }
    case 'image':
    case 'audio':
      return { raw: content.data, mediaType: content.mimeType }
    case 'resource_link':
      return URL.canParse(content.uri)
        ? { url: content.uri, filename: content.name, ...mediaType(content.mimeType) }
        : undefined
    case 'resource': {
      const { resource } = content
      const about = mediaType(resource.mimeType)
      if ('blob' in resource) return { raw: resource.blob, ...about }
      return { text: resource.text, ...about }
    }
    default:
      return undefined
  }
}

const mediaType = (type: string | null | undefined): { readonly mediaType?: string } =>
  typeof type === 'string' ? { mediaType: type } : {}

/** Updates that are no content; nothing for those that callers do not see. */
export function reportOf(update: SessionUpdate, shown: Shown): Report | undefined {
  switch (update.sessionUpdate) {
    case 'tool_call':
      return shown.tools === 'none' ? undefined : status(update.title, { toolCall: toolCall(update, shown) })
    case 'tool_call_update':
      return shown.tools === 'none' ? undefined : working({ toolCall: toolCall(update, shown) })
    case 'plan':
      return working({
        plan: update.entries.map(({ content, status: state, priority }) => ({ content, status: state, priority })),
      })
    case 'agent_thought_chunk':
      return shown.thoughts && update.content.type === 'text' ? working({ thought: update.content.text }) : undefined
    case 'notice':
      return status(update.title, { notice: { severity: update.severity } })
    case 'current_mode_update':
      return working({ mode: update.currentModeId })
    default:
      return undefined
  }
}

const working = (metadata: Struct): Report => ({ state: 'TASK_STATE_WORKING', metadata })

function toolCall(call: ToolCall | ToolCallUpdate, { tools }: Shown): Struct {
  const { toolCallId, title, name, kind, status: state, content, locations, rawInput, rawOutput } = call
  const outside = { toolCallId, title, name, kind, status: state }
  // What it works on are paths and contents of the machine: for those who may know them only.
  const all = tools === 'all' ? { ...outside, content, locations, rawInput, rawOutput } : outside
  const said = Object.entries(all).filter(([, value]) => value !== undefined && value !== null)
  return JSON.parse(JSON.stringify(Object.fromEntries(said))) as Struct
}

export const bytesOf = (update: SessionUpdate): number => Buffer.byteLength(JSON.stringify(update))
