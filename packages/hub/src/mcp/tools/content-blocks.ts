/**
 * Converts parts of an answer to content blocks of MCP: texts, images, audio, files. Large parts are not included, because
 * a model reads the result. They are linked, and the client can read them as resources.
 */
import type { ContentBlock } from '@modelcontextprotocol/server'
import type { Part } from '@parley/a2a'
import type { RawPart, UrlPart } from '@parley/a2a/internal'
import { utf8Text } from '../../json/attempt.ts'

/** How many characters of a result are left for its parts. */
export interface SizeBudget {
  left: number
}

/** Limit of one result. */
const maxResultCharacters = 4_000_000
/** Limit of one file; a text may use what is left. */
const maxFileCharacters = 1_500_000

export function createSizeBudget(): SizeBudget {
  return { left: maxResultCharacters }
}

/** `uri` is where the part can be read later; undefined if it cannot. */
export function contentBlock(part: Part, uri: string | undefined, budget: SizeBudget): ContentBlock {
  if ('text' in part) return textBlock(part.text, uri, budget)
  if ('data' in part) return textBlock(JSON.stringify(part.data, null, 2), uri, budget)
  if ('url' in part) return { type: 'resource_link', uri: part.url, name: partFilename(part), ...mimeType(part) }
  return fileBlock(part, uri, budget)
}

function textBlock(text: string, uri: string | undefined, budget: SizeBudget): ContentBlock {
  if (text.length <= budget.left) {
    budget.left -= text.length
    return { type: 'text', text }
  }
  const cut = text.slice(0, budget.left)
  budget.left = 0
  const where = uri === undefined ? '' : `, all of it is at ${uri}`
  return { type: 'text', text: `${cut}\n[cut after ${cut.length} of ${text.length} characters${where}]` }
}

function fileBlock(part: RawPart, uri: string | undefined, budget: SizeBudget): ContentBlock {
  const bytes = Buffer.from(part.raw, 'base64')
  const name = partFilename(part)
  const type = part.mediaType ?? 'application/octet-stream'
  if (part.raw.length > Math.min(maxFileCharacters, budget.left)) {
    if (uri !== undefined) return { type: 'resource_link', uri, name, mimeType: type, size: bytes.length }
    return { type: 'text', text: `[${name}: ${bytes.length} bytes of ${type}, too large to include]` }
  }
  budget.left -= part.raw.length
  // Encoded again: peers are not strict about base64, but MCP is.
  const data = bytes.toString('base64')
  if (/^image\//i.test(type)) return { type: 'image', data, mimeType: type }
  if (/^audio\//i.test(type)) return { type: 'audio', data, mimeType: type }
  return { type: 'resource', resource: fileResource(part, uri ?? `parley://file/${encodeURIComponent(name)}`) }
}

export type FileResource =
  | { readonly uri: string; readonly mimeType: string; readonly text: string }
  | { readonly uri: string; readonly mimeType: string; readonly blob: string }

/** Any part as the content of a resource, except one that is only a URL. */
export function fileResource(part: Exclude<Part, UrlPart>, uri: string): FileResource {
  if ('text' in part) return { uri, mimeType: part.mediaType ?? 'text/plain', text: part.text }
  if ('data' in part) return { uri, mimeType: 'application/json', text: JSON.stringify(part.data) }
  const bytes = Buffer.from(part.raw, 'base64')
  const type = part.mediaType ?? 'application/octet-stream'
  const text = isTextual(type) ? utf8Text(bytes) : undefined
  return text === undefined ? { uri, mimeType: type, blob: bytes.toString('base64') } : { uri, mimeType: type, text }
}

function isTextual(type: string): boolean {
  return /^(text\/|application\/(json|xml|yaml|javascript|toml)\b|[^;]*\+(json|xml)\b)/i.test(type)
}

export function partFilename(part: RawPart | UrlPart): string {
  if (part.filename !== undefined && part.filename !== '') return part.filename
  const last = 'url' in part ? part.url.split(/[?#]/, 1)[0]?.split('/').at(-1) : undefined
  return last === undefined || last === '' ? 'file' : last
}

function mimeType({ mediaType }: Part): { readonly mimeType?: string } {
  return mediaType === undefined || mediaType === '' ? {} : { mimeType: mediaType }
}
