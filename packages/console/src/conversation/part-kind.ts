/** How a part is displayed: by its declared type, and never as anything that a browser would run. */
import type { Json, Part } from '@parley/a2a'
import { isFlatTable } from '../components/content/json-table.ts'

export type PartKind =
  | 'markdown'
  | 'text'
  | 'code'
  | 'json'
  | 'table'
  | 'csv'
  | 'image'
  | 'audio'
  | 'video'
  | 'pdf'
  | 'file'
  | 'link'
  | 'unknown'

const images = /^image\/(png|jpe?g|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/i
const codeNames =
  /\.(c|cc|cpp|cs|css|diff|go|h|html?|java|jsx?|kt|lua|mjs|patch|php|pl|py|rb|rs|scss|sh|sql|swift|toml|tsx?|vue|xml|ya?ml|zig)$/i

/** `byAgent`: text without a type is Markdown, because models write it. Users write plain text. */
export function partKindOf(part: Part, byAgent: boolean): PartKind {
  if ('text' in part) return kindOfText(part.text, declaredType(part), part.filename ?? '', byAgent)
  if ('data' in part) return isFlatTable(part.data) ? 'table' : 'json'
  if ('url' in part) return 'link'
  if (!('raw' in part)) return 'unknown'
  return base64ByteLength(part.raw) > maxInlineBytes ? 'file' : kindOfFile(mediaTypeOf(part), part.raw)
}

/** Larger files can only be downloaded: to decode and show them would block the page. */
const maxInlineBytes = 20_000_000

function kindOfFile(type: string, raw: string): PartKind {
  if (images.test(type)) return 'image'
  if (type.startsWith('audio/')) return 'audio'
  if (type.startsWith('video/')) return 'video'
  // `JVBERi` is `%PDF` in base64.
  return type === 'application/pdf' && raw.startsWith('JVBERi') ? 'pdf' : 'file'
}

function declaredType({ mediaType = '' }: { readonly mediaType?: string | undefined }): string {
  return mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** By file extension, for files that agents send without a type. */
const typesByExtension: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  m4a: 'audio/mp4',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  pdf: 'application/pdf',
}

/** The declared type, without parameters; or the type that the name of the file suggests. */
export function mediaTypeOf({ mediaType, filename }: Pick<Part, 'mediaType' | 'filename'>): string {
  const declared = declaredType({ mediaType })
  if (declared !== '' && declared !== 'application/octet-stream') return declared
  const extension = /\.(\w+)$/.exec(filename ?? '')?.[1]?.toLowerCase() ?? ''
  return typesByExtension[extension] ?? declared
}

function kindOfText(text: string, type: string, name: string, byAgent: boolean): PartKind {
  if (isMarkdown(type, name)) return 'markdown'
  if (isJsonType(type)) return parseJsonText(text) === undefined ? 'code' : 'json'
  if (isCsv(type, name)) return 'csv'
  if (codeNames.test(name)) return 'code'
  if (type === '') return byAgent && name === '' ? 'markdown' : 'text'
  return type === 'text/plain' ? 'text' : 'code'
}

/** How the text of a file is shown. */
export function textFileKind(type: string, name: string): 'csv' | 'markdown' | 'json' | 'code' {
  if (isCsv(type, name)) return 'csv'
  if (isMarkdown(type, name)) return 'markdown'
  return isJsonType(type) || /\.json$/i.test(name) ? 'json' : 'code'
}

function isMarkdown(type: string, name: string): boolean {
  return type === 'text/markdown' || type === 'text/x-markdown' || /\.(md|markdown)$/i.test(name)
}

function isCsv(type: string, name: string): boolean {
  return /^text\/(csv|tab-separated-values)\b/i.test(type) || /\.(csv|tsv)$/i.test(name)
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || type.endsWith('+json')
}

export function parseJsonText(text: string): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(text) as Json }
  } catch {
    return undefined
  }
}

/** Whether a file can be previewed as text. */
export function isTextFile(type: string, name: string): boolean {
  return (
    /^text\/|json|xml|yaml|javascript|csv/i.test(type) ||
    codeNames.test(name) ||
    isCsv(type, name) ||
    /\.(txt|md|log|json)$/i.test(name)
  )
}

/** Size of the decoded file, without decoding it. */
export function base64ByteLength(raw: string): number {
  const padding = raw.endsWith('==') ? 2 : raw.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor((raw.length * 3) / 4) - padding)
}

/** Also accepts base64url and missing padding. `undefined` if it is not base64. */
export function decodeBase64(raw: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const letters = atob(raw.replaceAll('-', '+').replaceAll('_', '/').replaceAll(/\s/g, ''))
    const bytes = new Uint8Array(letters.length)
    for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at)
    return bytes
  } catch {
    return undefined
  }
}

/** A safe file name, whatever the agent sent. */
export function safeFileName(named: string | undefined, otherwise: string): string {
  const name = (named ?? '')
    .replaceAll(/[\p{Cc}/\\:*?"<>|]+/gu, '_')
    .replace(/^\.+/, '')
    .trim()
  return name === '' ? otherwise : name.slice(0, 120)
}
