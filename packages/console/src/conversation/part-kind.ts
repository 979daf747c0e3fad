/** How a part is displayed: by its declared type, and never as anything that a browser would run. */
import type { Json, Part, Struct } from '@parley/a2a'

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
  | 'file'
  | 'link'
  | 'unknown'

const images = /^image\/(png|jpe?g|gif|webp|avif|bmp|svg\+xml|x-icon|vnd\.microsoft\.icon)$/i
const codeNames =
  /\.(c|cc|cpp|cs|css|diff|go|h|html?|java|jsx?|kt|lua|mjs|patch|php|pl|py|rb|rs|scss|sh|sql|swift|toml|tsx?|vue|xml|ya?ml|zig)$/i

/** `byAgent`: text without a type is Markdown, because models write it. Users write plain text. */
export function partKindOf(part: Part, byAgent: boolean): PartKind {
  const type = (part.mediaType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if ('text' in part) return kindOfText(part.text, type, part.filename ?? '', byAgent)
  if ('data' in part) return isTable(part.data) ? 'table' : 'json'
  if ('url' in part) return 'link'
  if (!('raw' in part)) return 'unknown'
  if (images.test(type)) return 'image'
  if (type.startsWith('audio/')) return 'audio'
  if (type.startsWith('video/')) return 'video'
  return 'file'
}

function kindOfText(text: string, type: string, name: string, byAgent: boolean): PartKind {
  if (type === 'text/markdown' || type === 'text/x-markdown' || /\.(md|markdown)$/i.test(name)) return 'markdown'
  if (isJsonType(type)) return parseJsonText(text) === undefined ? 'code' : 'json'
  if (isCsv(type, name)) return 'csv'
  if (codeNames.test(name)) return 'code'
  if (type === '') return byAgent && name === '' ? 'markdown' : 'text'
  return type === 'text/plain' ? 'text' : 'code'
}

export function isCsv(type: string, name: string): boolean {
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

export const maxTableColumns = 24

/** A list of objects with plain values. */
export function isTable(value: Json): value is readonly Struct[] {
  if (!Array.isArray(value) || value.length === 0) return false
  return value.every(isFlat) && tableColumns(value as readonly Struct[]).length <= maxTableColumns
}

function isFlat(row: unknown): boolean {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return false
  const values = Object.values(row)
  return values.length > 0 && values.every((value) => typeof value !== 'object' || value === null)
}

export function tableColumns(rows: readonly Struct[]): readonly string[] {
  const names = new Set<string>()
  for (const row of rows) for (const name of Object.keys(row)) names.add(name)
  return [...names]
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
