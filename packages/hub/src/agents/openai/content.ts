/**
 * Converts parts of a message for a model: text and data as text, images, audio and documents each in their own form, text
 * files inline. The hub fetches URLs with the guarded fetch: an endpoint may be inside the network that the URL must not
 * reach.
 */
import { A2AError, type Part } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import type { ChatContent, ChatModel } from '../chat-model.ts'
import type { AgentServices, PartBytes } from '../kind.ts'
import type { OpenaiEntry } from './entry.ts'
import { utf8Text } from '../../json/attempt.ts'

type ContentSettings = Pick<OpenaiEntry, 'inputs' | 'urls'>

const alwaysAccepted = ['text/plain', 'text/*', 'application/json', 'application/octet-stream']
const modes: Readonly<Record<OpenaiEntry['inputs'][number], readonly string[]>> = {
  image: ['image/*'],
  audio: ['audio/wav', 'audio/x-wav', 'audio/mpeg', 'audio/mp3'],
  file: ['application/pdf'],
}

export function createContentReader(
  { inputs, urls }: ContentSettings,
  bytes: AgentServices['readPart'],
): Pick<ChatModel, 'read' | 'inputModes'> {
  return {
    inputModes: [...alwaysAccepted, ...inputs.flatMap((input) => modes[input])],
    read: (parts, signal) => Promise.all(parts.map((part, index) => contentOf(part, index, signal))),
  }

  async function contentOf(part: Part, index: number, signal: AbortSignal): Promise<ChatContent> {
    if ('text' in part) return inlineText(part.text, part.filename)
    if ('data' in part) return inlineText(JSON.stringify(part.data, null, 2), part.filename ?? 'data.json')
    const named = part.mediaType?.toLowerCase() ?? ''
    if (urls === 'pass' && 'url' in part && named.startsWith('image/') && inputs.includes('image'))
      return { type: 'image_url', image_url: { url: part.url } }
    return fileContent(await bytes(part, signal), index)
  }

  function fileContent(file: PartBytes, index: number): ChatContent {
    const medium = detectMediaKind(file.mediaType, file.bytes)
    if (medium === undefined) throw unsupported(file.mediaType, index)
    if (medium.kind === 'text') return inlineText(new TextDecoder().decode(file.bytes), file.filename ?? 'file')
    if (!inputs.includes(medium.kind)) throw unsupported(file.mediaType ?? medium.kind, index)
    const encoded = Buffer.from(file.bytes).toString('base64')
    switch (medium.kind) {
      case 'image':
        return { type: 'image_url', image_url: { url: `data:${medium.mediaType};base64,${encoded}` } }
      case 'audio':
        return { type: 'input_audio', input_audio: { data: encoded, format: medium.format } }
      case 'file': {
        const filename = file.filename ?? 'document.pdf'
        return { type: 'file', file: { filename, file_data: `data:${medium.mediaType};base64,${encoded}` } }
      }
    }
  }
}

/** Named text is a file: it is put into a fence that does not occur in its content. */
function inlineText(text: string, filename: string | undefined): ChatContent {
  if (filename === undefined) return { type: 'text', text }
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([fence]) => fence.length))
  const fence = '`'.repeat(longest + 1)
  return { type: 'text', text: `${filename}:\n${fence}\n${text}\n${fence}` }
}

function unsupported(mediaType: string | undefined, index: number): A2AError {
  const what = mediaType ?? 'a file of unknown type'
  return new A2AError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `Incompatible content types: ${what} is not supported by this agent`,
    {
      ...omitUndefined({ mediaType }),
      partKind: 'file',
      violations: [{ field: `message.parts[${index}]`, description: `is ${what}, which this agent does not accept` }],
    },
  )
}

/** Detects the media kind of bytes: by their media type, or by their first bytes if no type is given. */

type MediaKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'image'; readonly mediaType: string }
  | { readonly kind: 'audio'; readonly format: string }
  | { readonly kind: 'file'; readonly mediaType: string }

const audioFormats: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}

const textTypes =
  /^(text\/.*|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh|x-ndjson|jsonl|graphql|csv)|.*\+(json|xml|yaml))$/

/** Undefined for types that no model accepts. */
function detectMediaKind(mediaType: string | undefined, bytes: Uint8Array): MediaKind | undefined {
  const type = mediaType?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (type === '' || type === 'application/octet-stream') return mediaKindOfBytes(bytes)
  // Images in a text format are read as text: no endpoint accepts them as images.
  if (textTypes.test(type)) return { kind: 'text' }
  if (type.startsWith('image/')) return { kind: 'image', mediaType: type }
  const format = audioFormats[type]
  if (format !== undefined) return { kind: 'audio', format }
  return type === 'application/pdf' ? { kind: 'file', mediaType: type } : undefined
}

function mediaKindOfBytes(bytes: Uint8Array): MediaKind | undefined {
  const beginning = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  if (beginning.startsWith('\x89PNG')) return { kind: 'image', mediaType: 'image/png' }
  if (beginning.startsWith('\xff\xd8\xff')) return { kind: 'image', mediaType: 'image/jpeg' }
  if (beginning.startsWith('GIF8')) return { kind: 'image', mediaType: 'image/gif' }
  if (/^RIFF.{4}WEBP/s.test(beginning)) return { kind: 'image', mediaType: 'image/webp' }
  if (/^RIFF.{4}WAVE/s.test(beginning)) return { kind: 'audio', format: 'wav' }
  if (/^(ID3|\xff[\xfb\xf3\xf2])/.test(beginning)) return { kind: 'audio', format: 'mp3' }
  if (beginning.startsWith('%PDF-')) return { kind: 'file', mediaType: 'application/pdf' }
  return utf8Text(bytes)?.includes('\0') === false ? { kind: 'text' } : undefined
}
