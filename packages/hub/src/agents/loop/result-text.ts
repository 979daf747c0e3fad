/**
 * The result of a tool for the model: text as text and data as JSON, with a size limit. Files are named only, because they
 * go to the caller.
 */
import type { Part } from '@parley/a2a'
import type { RawPart } from '@parley/a2a/internal'

export interface ToolResultContent {
  readonly text: string
  readonly files: readonly RawPart[]
}

/** Limit of one file; larger ones are only mentioned. */
const fileBytes = 5_000_000

export function toolResultContent(parts: readonly Part[], limit: number): ToolResultContent {
  const files = parts.filter((part): part is RawPart => 'raw' in part && part.raw.length * 0.75 <= fileBytes)
  return { text: truncateText(parts.map(partText).join('\n'), limit), files }
}

export function truncateText(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit)}\n[${text.length - limit} more characters were left out]`
}

function partText(part: Part): string {
  if ('text' in part) return part.filename === undefined ? part.text : `${part.filename}:\n${part.text}`
  if ('data' in part) return JSON.stringify(part.data)
  const name = part.filename ?? part.mediaType ?? 'a file'
  if ('url' in part) return `[${name}](${part.url})`
  return part.raw.length * 0.75 > fileBytes ? `[${name}: too large]` : `[${name}: given to the user]`
}
