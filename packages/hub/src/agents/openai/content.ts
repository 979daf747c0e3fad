/**
 * Parts of a message as a model takes them: text and data as text, images, audio and documents each in its own way, text
 * files inlined. What a part refers to by its address is fetched by the hub, under its guard: an endpoint may stand
 * inside the network that the address must not reach.
 */
import { A2AError } from '@parley/a2a'
import type { Part } from '@parley/a2a'
import type { ChatContent, ChatModel } from '../chat-model.ts'
import type { KindParts, PartBytes } from '../kind.ts'
import type { OpenaiEntry } from './entry.ts'
import { mediumOf } from './media.ts'

type Reading = Pick<OpenaiEntry, 'inputs' | 'urls'>

const always = ['text/plain', 'text/*', 'application/json', 'application/octet-stream']
const modes: Readonly<Record<OpenaiEntry['inputs'][number], readonly string[]>> = {
  image: ['image/*'],
  audio: ['audio/wav', 'audio/x-wav', 'audio/mpeg', 'audio/mp3'],
  file: ['application/pdf'],
}

export function contentReader(
  { inputs, urls }: Reading,
  bytes: KindParts['bytes'],
): Pick<ChatModel, 'read' | 'inputModes'> {
  return {
    inputModes: [...always, ...inputs.flatMap((input) => modes[input])],
    read: (parts, signal) => Promise.all(parts.map((part, index) => contentOf(part, index, signal))),
  }

  async function contentOf(part: Part, index: number, signal: AbortSignal): Promise<ChatContent> {
    if ('text' in part) return inlined(part.text, part.filename)
    if ('data' in part) return inlined(JSON.stringify(part.data, null, 2), part.filename ?? 'data.json')
    const named = part.mediaType?.toLowerCase() ?? ''
    if (urls === 'pass' && 'url' in part && named.startsWith('image/') && inputs.includes('image'))
      return { type: 'image_url', image_url: { url: part.url } }
    return fileContent(await bytes(part, signal), index)
  }

  function fileContent(file: PartBytes, index: number): ChatContent {
    const medium = mediumOf(file.mediaType, file.bytes)
    if (medium === undefined) throw unsupported(file.mediaType, index)
    if (medium.kind === 'text') return inlined(new TextDecoder().decode(file.bytes), file.filename ?? 'file')
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

/** Text with a name is a file: a fence that its content does not hold says where it ends. */
function inlined(text: string, filename: string | undefined): ChatContent {
  if (filename === undefined) return { type: 'text', text }
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([fence]) => fence.length))
  const fence = '`'.repeat(longest + 1)
  return { type: 'text', text: `${filename}:\n${fence}\n${text}\n${fence}` }
}

function unsupported(mediaType: string | undefined, index: number): A2AError {
  const what = mediaType ?? 'a file of no known type'
  return new A2AError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `Incompatible content types: ${what} is not supported by this agent`,
    {
      ...(mediaType !== undefined ? { mediaType } : {}),
      partKind: 'file',
      violations: [{ field: `message.parts[${index}]`, description: `is ${what}, which this agent does not take` }],
    },
  )
}
