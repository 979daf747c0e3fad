/** Converts the result of a tool to parts of a message. */
import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client'
import type { Json, Part } from '@parley/a2a'
import { parseJsonOrUndefined } from '../../json/embedded-json.ts'

/** Never empty: an empty result becomes an empty text. */
export function partsOfResult({ content, structuredContent }: CallToolResult): readonly Part[] {
  const parts = content.map(partOf)
  if (structuredContent === undefined) return parts.length > 0 ? parts : [{ text: '' }]
  // Most servers repeat their data as text, for clients that only support text.
  const others = parts.filter((part) => !('text' in part && isSame(part.text, structuredContent)))
  return [...others, { data: structuredContent as Json, mediaType: 'application/json' }]
}

export function partsOfContent(blocks: readonly ContentBlock[]): readonly Part[] {
  return blocks.length > 0 ? blocks.map(partOf) : [{ text: '' }]
}

export function partOfResource(resource: ReadResourceResult['contents'][number]): Part {
  const about = described(nameIn(resource.uri), resource.mimeType)
  return 'text' in resource ? { text: resource.text, ...about } : { raw: resource.blob, ...about }
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text }
    case 'image':
    case 'audio':
      return { raw: block.data, mediaType: block.mimeType }
    case 'resource':
      return partOfResource(block.resource)
    case 'resource_link': {
      const about = described(block.name, block.mimeType)
      // Only web addresses are usable outside of the server.
      return /^https?:\/\//i.test(block.uri) ? { url: block.uri, ...about } : { text: `${block.name} (${block.uri})` }
    }
  }
}

function described(filename: string, mediaType: string | undefined): Pick<Part, 'filename' | 'mediaType'> {
  return {
    ...(filename !== '' ? { filename } : {}),
    ...(mediaType !== undefined && mediaType !== '' ? { mediaType } : {}),
  }
}

function nameIn(uri: string): string {
  return uri.split(/[?#]/, 1)[0]?.split('/').at(-1) ?? ''
}

function isSame(text: string, value: unknown): boolean {
  return JSON.stringify(parseJsonOrUndefined(text)) === JSON.stringify(value)
}
