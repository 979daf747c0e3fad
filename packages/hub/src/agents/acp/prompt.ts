/** A message as content blocks, within what the agent says it takes. */
import type { ContentBlock, PromptCapabilities } from '@agentclientprotocol/sdk'
import type { Message, Part } from '@parley/a2a'
import { A2AError } from '@parley/a2a'
import type { KindParts, PartBytes } from '../kind.ts'

export async function promptOf(
  { parts }: Pick<Message, 'parts'>,
  takes: PromptCapabilities,
  bytes: KindParts['bytes'],
  signal: AbortSignal,
): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = []
  for (const part of parts) blocks.push(await blockOf(part, takes, bytes, signal))
  return blocks
}

async function blockOf(
  part: Part,
  takes: PromptCapabilities,
  bytes: KindParts['bytes'],
  signal: AbortSignal,
): Promise<ContentBlock> {
  if ('text' in part) return { type: 'text', text: part.text }
  if ('data' in part) return { type: 'text', text: JSON.stringify(part.data, undefined, 2) }
  // An address that a stranger chose is fetched here, under the guard, and not by the agent.
  const file = await bytes(part, signal)
  const { mediaType = 'application/octet-stream', filename = 'file' } = file
  if (mediaType.startsWith('image/') && takes.image === true) {
    return { type: 'image', data: base64(file), mimeType: mediaType }
  }
  if (mediaType.startsWith('audio/') && takes.audio === true) {
    return { type: 'audio', data: base64(file), mimeType: mediaType }
  }
  const text = textIn(file, mediaType)
  if (takes.embeddedContext === true) {
    const about = { uri: `attachment:///${encodeURIComponent(filename)}`, mimeType: mediaType }
    return { type: 'resource', resource: text === undefined ? { ...about, blob: base64(file) } : { ...about, text } }
  }
  if (text !== undefined) return { type: 'text', text: `${filename}:\n\n${text}` }
  throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `This agent takes no files of the type ${mediaType}`)
}

const base64 = ({ bytes }: PartBytes): string => Buffer.from(bytes).toString('base64')

function textIn({ bytes }: PartBytes, mediaType: string): string | undefined {
  if (!/^text\/|[/+](json|xml|yaml|javascript|typescript|toml)$/.test(mediaType)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
