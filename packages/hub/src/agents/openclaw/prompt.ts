/**
 * Converts a message to the gateway's format: text and attachments, within its limits. An unsupported part is rejected by
 * its name.
 */
import { A2AError, type Message, type Part } from '@parley/a2a'
import type { AgentServices, PartBytes } from '../kind.ts'
import { textOfParts } from '../part-reader.ts'
import type { GatewayLimits } from './gateway/hello.ts'

export interface Attachment {
  readonly type: 'image' | 'file'
  readonly mimeType: string
  readonly fileName: string
  /** Base64. */
  readonly content: string
}

export interface OpenClawPrompt {
  readonly text: string
  readonly attachments: readonly Attachment[]
  /** The gateway's `agent` method accepts images only. */
  readonly hasFiles: boolean
}

const defaultMediaType = 'application/octet-stream'
/** Space in a frame for the text and the rest of the request. */
const frameOverheadBytes = 64_000

export async function createOpenClawPrompt(
  { parts }: Message,
  text: string,
  limits: GatewayLimits,
  bytes: AgentServices['readPart'],
  signal: AbortSignal,
): Promise<OpenClawPrompt> {
  const attachments: Attachment[] = []
  const checkFile = createFileCheck(text, limits)
  checkParts(parts, text)
  for (const [index, part] of parts.entries()) {
    if ('text' in part) continue
    const content = await readFile(part, index, bytes, signal)
    const type = checkFile(index, content.bytes.byteLength, content.mediaType)
    attachments.push({
      type,
      mimeType: content.mediaType ?? defaultMediaType,
      fileName: fileName(content.filename, index),
      content: Buffer.from(content.bytes).toString('base64'),
    })
  }
  return {
    // The gateway rejects a message without text.
    text: text.trim() === '' ? 'See what is attached.' : text,
    attachments,
    hasFiles: attachments.some(({ type }) => type === 'file'),
  }
}

/** Refuses what the gateway would not accept, as far as that is known before files are fetched. */
export function checkOpenClawMessage({ parts }: Message, limits: GatewayLimits): void {
  const text = textOfParts(parts)
  const checkFile = createFileCheck(text, limits)
  checkParts(parts, text)
  for (const [index, part] of parts.entries()) {
    if ('raw' in part) checkFile(index, Buffer.byteLength(part.raw, 'base64'), part.mediaType)
  }
}

function checkParts(parts: readonly Part[], text: string): void {
  const data = parts.findIndex((part) => 'data' in part)
  if (data >= 0) throw unsupportedPart(data, 'data', 'is data: this agent accepts text, images and files')
  if (text.trim() === '' && parts.every((part) => 'text' in part)) throw unsupportedPart(0, 'text', 'must not be empty')
}

/** Checks the files of one message, one after the other. */
function createFileCheck(text: string, limits: GatewayLimits) {
  let frameBytes = frameOverheadBytes + Buffer.byteLength(text) * 2
  return (index: number, byteLength: number, mediaType = defaultMediaType): Attachment['type'] => {
    const type = mediaType.startsWith('image/') ? 'image' : 'file'
    const limit = type === 'image' ? limits.imageBytes : limits.fileBytes
    if (limit === 0) throw unsupportedPart(index, type, 'is a file: this agent accepts text and images')
    if (byteLength > limit) throw partTooLarge(index, `is larger than ${limit} bytes, the maximum`)
    frameBytes += Math.ceil(byteLength / 3) * 4
    if (frameBytes > limits.frameBytes)
      throw partTooLarge(index, 'exceeds the size limit together with the parts before it')
    return type
  }
}

async function readFile(
  part: Part,
  index: number,
  bytes: AgentServices['readPart'],
  signal: AbortSignal,
): Promise<PartBytes> {
  try {
    return await bytes(part, signal)
  } catch (reason) {
    if (!(reason instanceof A2AError) || reason.details.violations !== undefined) throw reason
    const violations = [{ field: `message.parts[${index}]`, description: reason.message }]
    throw new A2AError(reason.code, reason.message, { ...reason.details, violations }, { cause: reason })
  }
}

/** The gateway writes files under their names, so path separators are removed. */
function fileName(given: string | undefined, index: number): string {
  const last =
    given
      ?.split(/[\\/]/)
      .at(-1)
      ?.replaceAll(/[\p{Cc}]/gu, '') ?? ''
  return last === '' || last === '.' || last === '..' ? `part-${index + 1}` : last.slice(0, 200)
}

function unsupportedPart(index: number, partKind: string, description: string): A2AError {
  const violations = [{ field: `message.parts[${index}]`, description }]
  return new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `message.parts[${index}] ${description}`, { partKind, violations })
}

function partTooLarge(index: number, description: string): A2AError {
  const violations = [{ field: `message.parts[${index}]`, description }]
  return new A2AError('PAYLOAD_TOO_LARGE', `message.parts[${index}] ${description}`, { violations })
}

/**
 * Escapes commands: the caller's text must never be a command to the gateway. `agent` recognizes one only at the beginning;
 * `chat.send` also in the middle, after a name and a colon, and as a bare word such as "stop".
 */
export function escapeGatewayCommands(text: string, method: 'agent' | 'chat.send'): string {
  if (method === 'agent') return text.replace(/^(\s*)(\/\S*)/, '$1`$2`')
  return `${text.replaceAll(/(?<![\w`~.:/-])(\/[^\s`]+)/g, '`$1`')}\n\n(Sent by an A2A client.)`
}
