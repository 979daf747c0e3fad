/** What a tool gave, for the model: text as text, data as JSON, within a bound; files by name, for they go to the caller. */
import type { Part, RawPart } from '@parley/a2a'

export interface ToldResult {
  readonly text: string
  readonly files: readonly RawPart[]
}

/** Of one file; larger ones are only mentioned. */
const fileBytes = 5_000_000

export function toldResult(parts: readonly Part[], limit: number): ToldResult {
  const files = parts.filter((part): part is RawPart => 'raw' in part && part.raw.length * 0.75 <= fileBytes)
  return { text: shortened(parts.map(wordsFor).join('\n'), limit), files }
}

export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, limit)}\n[${text.length - limit} more characters were left out]`
}

function wordsFor(part: Part): string {
  if ('text' in part) return part.filename === undefined ? part.text : `${part.filename}:\n${part.text}`
  if ('data' in part) return JSON.stringify(part.data)
  const name = part.filename ?? part.mediaType ?? 'a file'
  if ('url' in part) return `[${name}](${part.url})`
  return part.raw.length * 0.75 > fileBytes ? `[${name}: too large to be given]` : `[${name}: given to the user]`
}
