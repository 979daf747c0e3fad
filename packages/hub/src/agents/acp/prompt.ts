/** Converts a message to content blocks that the agent's capabilities allow. */
import { A2AError } from '@parley/a2a'
import type { Message, Part } from '@parley/a2a'
import type { AgentServices, PartBytes } from '../kind.ts'
import type { ContentBlock, PromptCapabilities } from '@agentclientprotocol/sdk'
import { utf8Text } from '../../json/attempt.ts'

export async function createAcpPrompt(
  { parts }: Pick<Message, 'parts'>,
  capabilities: PromptCapabilities,
  bytes: AgentServices['readPart'],
  signal: AbortSignal,
): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = []
  for (const part of parts) blocks.push(await contentBlockOf(part, capabilities, bytes, signal))
  return blocks
}

async function contentBlockOf(
  part: Part,
  capabilities: PromptCapabilities,
  bytes: AgentServices['readPart'],
  signal: AbortSignal,
): Promise<ContentBlock> {
  if ('text' in part) return { type: 'text', text: part.text }
  if ('data' in part) return { type: 'text', text: JSON.stringify(part.data, undefined, 2) }
  // The hub fetches a URL from the caller with the guarded fetch, so that the agent does not fetch it.
  const file = await bytes(part, signal)
  const { mediaType = 'application/octet-stream', filename = 'file' } = file
  if (mediaType.startsWith('image/') && capabilities.image === true) {
    return { type: 'image', data: base64(file), mimeType: mediaType }
  }
  if (mediaType.startsWith('audio/') && capabilities.audio === true) {
    return { type: 'audio', data: base64(file), mimeType: mediaType }
  }
  const text = textIn(file, mediaType)
  if (capabilities.embeddedContext === true) {
    const about = { uri: `attachment:///${encodeURIComponent(filename)}`, mimeType: mediaType }
    return { type: 'resource', resource: text === undefined ? { ...about, blob: base64(file) } : { ...about, text } }
  }
  if (text !== undefined) return { type: 'text', text: `${filename}:\n\n${text}` }
  throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `This agent accepts no files of type ${mediaType}`)
}

const base64 = ({ bytes }: PartBytes): string => Buffer.from(bytes).toString('base64')

function textIn({ bytes }: PartBytes, mediaType: string): string | undefined {
  if (!/^text\/|[/+](json|xml|yaml|javascript|typescript|toml)$/.test(mediaType)) return undefined
  return utf8Text(bytes)
}
