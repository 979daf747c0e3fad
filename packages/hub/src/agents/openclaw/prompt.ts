/**
 * Converts a message to the gateway's format: text and attachments, within its limits. An unsupported part is rejected by
 * its name.
 */
import { A2AError, type Message, type Part } from '@parley/a2a'
import type { AgentServices, PartBytes } from '../kind.ts'
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
  let frameBytes = frameOverheadBytes + Buffer.byteLength(text) * 2
  for (const [index, part] of parts.entries()) {
    if ('text' in part) continue
    if ('data' in part) throw unsupportedPart(index, 'data', 'is data: this agent accepts text, images and files')
    const attachment = await attach(part, index, limits, bytes, signal)
    attachments.push(attachment)
    frameBytes += attachment.content.length
    if (frameBytes > limits.frameBytes)
      throw partTooLarge(index, 'exceeds the size limit together with the parts before it')
  }
  if (text.trim() === '' && attachments.length === 0) throw unsupportedPart(0, 'text', 'must not be empty')
  return {
    // The gateway rejects a message without text.
    text: text.trim() === '' ? 'See what is attached.' : text,
    attachments,
    hasFiles: attachments.some(({ type }) => type === 'file'),
  }
}

async function attach(
  part: Part,
  index: number,
  limits: GatewayLimits,
  bytes: AgentServices['readPart'],
  signal: AbortSignal,
): Promise<Attachment> {
  const content = await fetched(part, index, bytes, signal)
  const mimeType = content.mediaType ?? 'application/octet-stream'
  const type = mimeType.startsWith('image/') ? 'image' : 'file'
  const limit = type === 'image' ? limits.imageBytes : limits.fileBytes
  if (limit === 0) throw unsupportedPart(index, type, 'is a file: this agent accepts text and images')
  if (content.bytes.byteLength > limit) throw partTooLarge(index, `is larger than ${limit} bytes, the maximum`)
  return {
    type,
    mimeType,
    fileName: fileName(content.filename, index),
    content: Buffer.from(content.bytes).toString('base64'),
  }
}

async function fetched(
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
