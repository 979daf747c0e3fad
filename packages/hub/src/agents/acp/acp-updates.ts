/** Translates session updates into reports: text and files become artifacts, everything else becomes status updates. */
import type { ContentBlock, SessionUpdate, ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk'
import { type Part, type Report, type Struct, status } from '@parley/a2a'
import type { AcpEntry } from './entry.ts'

export type UpdateVisibility = Pick<AcpEntry, 'thoughts' | 'tools'>

/** The text of an answer, assembled from its chunks. Separate messages are separated by a blank line. */
export class AcpAnswerText {
  #text: string
  #messageId: string | undefined

  /** `before` is the text that was already reported. */
  constructor(before = '') {
    this.#text = before
  }

  get text(): string {
    return this.#text
  }

  /** Returns the text that the chunk adds. */
  add(text: string, messageId: string | null | undefined): string {
    const isNewMessage = typeof messageId === 'string' && this.#messageId !== undefined && messageId !== this.#messageId
    this.#messageId = messageId ?? this.#messageId
    const added = isNewMessage && text !== '' && this.#text !== '' ? breakBefore(this.#text) + text : text
    this.#text += added
    return added
  }
}

function breakBefore(text: string): string {
  if (text.endsWith('\n\n')) return ''
  return text.endsWith('\n') ? '\n' : '\n\n'
}

/** Converts content that is not text to a part. */
export function partOfContent(content: ContentBlock): Part | undefined {
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

/** Reports for updates without content; undefined for those that callers do not see. */
export function reportOfUpdate(update: SessionUpdate, shown: UpdateVisibility): Report | undefined {
  switch (update.sessionUpdate) {
    case 'tool_call':
      return shown.tools === 'none' ? undefined : status(update.title, { toolCall: toolCallMetadata(update, shown) })
    case 'tool_call_update':
      return shown.tools === 'none' ? undefined : workingReport({ toolCall: toolCallMetadata(update, shown) })
    case 'plan':
      return workingReport({
        plan: update.entries.map(({ content, status: state, priority }) => ({ content, status: state, priority })),
      })
    case 'agent_thought_chunk':
      return shown.thoughts && update.content.type === 'text'
        ? workingReport({ thought: update.content.text })
        : undefined
    case 'notice':
      return status(update.title, { notice: { severity: update.severity } })
    case 'current_mode_update':
      return workingReport({ mode: update.currentModeId })
    default:
      return undefined
  }
}

const workingReport = (metadata: Struct): Report => ({ state: 'TASK_STATE_WORKING', metadata })

function toolCallMetadata(call: ToolCall | ToolCallUpdate, { tools }: UpdateVisibility): Struct {
  const { toolCallId, title, name, kind, status: state, content, locations, rawInput, rawOutput } = call
  const visible = { toolCallId, title, name, kind, status: state }
  // Locations and contents are paths and data of the machine, shown only with `tools: all`.
  const all = tools === 'all' ? { ...visible, content, locations, rawInput, rawOutput } : visible
  const said = Object.entries(all).filter(([, value]) => value !== undefined && value !== null)
  return JSON.parse(JSON.stringify(Object.fromEntries(said))) as Struct
}

export const updateBytes = (update: SessionUpdate): number => Buffer.byteLength(JSON.stringify(update))
