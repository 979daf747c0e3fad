/**
 * Parts of an answer as blocks that an MCP client shows: texts, images, sounds, files. What is large is not put into the
 * answer, which a model has to read, but named: whoever wants it reads it as a resource.
 */
import type { ContentBlock } from '@modelcontextprotocol/server'
import type { Part, RawPart, UrlPart } from '@parley/a2a'

/** How many characters of an answer are left for its parts. */
export interface Room {
  left: number
}

/** Of one result in all. */
const mostCharacters = 4_000_000
/** Of one file; a text may take what is left. */
const mostOfFile = 1_500_000

export function newRoom(): Room {
  return { left: mostCharacters }
}

/** `uri` is where the part can be read later; nothing if it cannot. */
export function blockOf(part: Part, uri: string | undefined, room: Room): ContentBlock {
  if ('text' in part) return textBlock(part.text, uri, room)
  if ('data' in part) return textBlock(JSON.stringify(part.data, null, 2), uri, room)
  if ('url' in part) return { type: 'resource_link', uri: part.url, name: nameOf(part), ...mimeType(part) }
  return fileBlock(part, uri, room)
}

function textBlock(text: string, uri: string | undefined, room: Room): ContentBlock {
  if (text.length <= room.left) {
    room.left -= text.length
    return { type: 'text', text }
  }
  const cut = text.slice(0, room.left)
  room.left = 0
  const where = uri === undefined ? '' : `, all of it is at ${uri}`
  return { type: 'text', text: `${cut}\n[cut after ${cut.length} of ${text.length} characters${where}]` }
}

function fileBlock(part: RawPart, uri: string | undefined, room: Room): ContentBlock {
  const bytes = Buffer.from(part.raw, 'base64')
  const name = nameOf(part)
  const type = part.mediaType ?? 'application/octet-stream'
  if (part.raw.length > Math.min(mostOfFile, room.left)) {
    if (uri !== undefined) return { type: 'resource_link', uri, name, mimeType: type, size: bytes.length }
    return { type: 'text', text: `[${name}: ${bytes.length} bytes of ${type}, which are too many to be shown here]` }
  }
  room.left -= part.raw.length
  // Written anew: peers are not strict about their base64, and MCP is.
  const data = bytes.toString('base64')
  if (/^image\//i.test(type)) return { type: 'image', data, mimeType: type }
  if (/^audio\//i.test(type)) return { type: 'audio', data, mimeType: type }
  return { type: 'resource', resource: resourceOf(part, uri ?? `parley://file/${encodeURIComponent(name)}`) }
}

export type FileResource =
  | { readonly uri: string; readonly mimeType: string; readonly text: string }
  | { readonly uri: string; readonly mimeType: string; readonly blob: string }

/** Any part as the content of a resource; nothing for one that is only an address. */
export function resourceOf(part: Exclude<Part, UrlPart>, uri: string): FileResource {
  if ('text' in part) return { uri, mimeType: part.mediaType ?? 'text/plain', text: part.text }
  if ('data' in part) return { uri, mimeType: 'application/json', text: JSON.stringify(part.data) }
  const bytes = Buffer.from(part.raw, 'base64')
  const type = part.mediaType ?? 'application/octet-stream'
  const text = isTextual(type) ? textIn(bytes) : undefined
  return text === undefined ? { uri, mimeType: type, blob: bytes.toString('base64') } : { uri, mimeType: type, text }
}

function isTextual(type: string): boolean {
  return /^(text\/|application\/(json|xml|yaml|javascript|toml)\b|[^;]*\+(json|xml)\b)/i.test(type)
}

/** Nothing for what says that it is text and is none. */
function textIn(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

export function nameOf(part: RawPart | UrlPart): string {
  if (part.filename !== undefined && part.filename !== '') return part.filename
  const last = 'url' in part ? part.url.split(/[?#]/, 1)[0]?.split('/').at(-1) : undefined
  return last === undefined || last === '' ? 'file' : last
}

function mimeType({ mediaType }: Part): { readonly mimeType?: string } {
  return mediaType === undefined || mediaType === '' ? {} : { mimeType: mediaType }
}
