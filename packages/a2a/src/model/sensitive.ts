/**
 * Secrets that people and programs say in the middle of a task: how they are marked, how an agent asks for one, and
 * what is kept in its place. A secret is given to the turn that asked for it; the log, and with it the history, every
 * later read, every trace and every screen, holds a placeholder (B-156, B-161).
 */
import type { SecurityRequirement, SecurityScheme } from './card.ts'
import { clientToolsExtension, credentialsExtension } from './extension.ts'
import type { Json, Message, Part, Struct } from './task.ts'

export const placeholder = '[redacted]'

/** What a question and an answer have in common. */
interface Said {
  readonly parts: readonly Part[]
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
}

/** What an agent needs the client to obtain, in the words of a card. */
export interface CredentialRequest {
  readonly schemes?: { readonly [name: string]: SecurityScheme }
  /** Which of them are needed together, if not any one of them. */
  readonly requirements?: readonly SecurityRequirement[]
  /** The credentials may be sent in the next message of the task, instead of by a way of their own (B-156). */
  readonly inBand?: boolean
}

/** A question whose answer is a secret. */
export function askingForSecret<T extends Said>(question: T, requestId: string): T {
  const prompt = question.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
  const inputRequest = { kind: 'input-request', requestId, prompt, sensitive: true }
  const ours = { ...aboutIn(question.metadata, clientToolsExtension), inputRequest }
  return {
    ...question,
    metadata: { ...question.metadata, [clientToolsExtension]: ours },
    extensions: withUri(question.extensions, clientToolsExtension),
  }
}

/** A request for credentials: the explanation, and what is needed as a data part (B-155, B-161). */
export function askingForAuth<T extends Said>(explanation: T, { schemes, requirements, inBand }: CredentialRequest): T {
  const data = {
    ...(schemes !== undefined ? { securitySchemes: schemes } : {}),
    ...(requirements !== undefined ? { securityRequirements: requirements } : {}),
    ...(inBand === true ? { inBand } : {}),
  }
  const part: Part = { data: data as unknown as Json, metadata: { [credentialsExtension]: { type: 'auth-request' } } }
  return {
    ...explanation,
    parts: [...explanation.parts, part],
    extensions: withUri(explanation.extensions, credentialsExtension),
  }
}

/** Whether whatever answers this is a secret, marked or not. */
export function asksForSecret(question: Said | undefined): boolean {
  if (question === undefined) return false
  const request = aboutIn(question.metadata, clientToolsExtension)['inputRequest']
  if (isStruct(request) && request['sensitive'] === true) return true
  return question.parts.some((part) => authRequestIn(part)?.['inBand'] === true)
}

/** What a part asks for, if it is a request for credentials. */
export function authRequestIn(part: Part): Struct | undefined {
  const { type } = aboutIn(part.metadata, credentialsExtension)
  return type === 'auth-request' && 'data' in part && isStruct(part.data) ? part.data : undefined
}

/** The message as it may be kept, or nothing if it may be kept as it is. `all`: whatever it says was asked for as a secret. */
export function redact(message: Message, all: boolean): Message | undefined {
  const whole = all || (message.metadata !== undefined && isMarked(message.metadata))
  if (!whole && !message.parts.some(isSecret)) return undefined
  return { ...message, parts: message.parts.map((part) => (whole || isSecret(part) ? redactPart(part) : part)) }
}

/** Whether a placeholder stands where a secret was: ask for it again. */
export function isRedacted(said: Part | Pick<Message, 'parts'>): boolean {
  if ('parts' in said) return said.parts.some(isRedacted)
  return aboutIn(said.metadata, credentialsExtension)['redacted'] === true
}

/** The words of a secret that was not said as text: the answer to a question, or a credential. */
export function secretTextIn(part: Part): string | undefined {
  if (!('data' in part) || !isSecret(part) || !isStruct(part.data)) return undefined
  const { result, credentials } = part.data
  return [result, credentials].find((value) => typeof value === 'string')
}

function isSecret({ metadata }: Part): boolean {
  return metadata !== undefined && isMarked(metadata)
}

function isMarked(metadata: Struct): boolean {
  const { type, sensitive } = aboutIn(metadata, credentialsExtension)
  return type === 'credentials' || sensitive === true || aboutIn(metadata, clientToolsExtension)['sensitive'] === true
}

/** Nothing of it but what kind of thing it was, and which call it answers. */
function redactPart(part: Part): Part {
  const metadata: Record<string, Json> = {}
  for (const uri of [clientToolsExtension, credentialsExtension]) {
    const { type } = aboutIn(part.metadata, uri)
    if (typeof type === 'string') metadata[uri] = { type }
  }
  metadata[credentialsExtension] = {
    ...(metadata[credentialsExtension] as Struct | undefined),
    sensitive: true,
    redacted: true,
  }
  if (!('data' in part)) return { text: placeholder, metadata }
  const toolUseId = isStruct(part.data) ? part.data['toolUseId'] : undefined
  return { data: { ...(typeof toolUseId === 'string' ? { toolUseId } : {}), redacted: true }, metadata }
}

function aboutIn(metadata: Struct | undefined, uri: string): Struct {
  const about = metadata?.[uri]
  return isStruct(about) ? about : {}
}

function withUri(uris: readonly string[] = [], uri: string): readonly string[] {
  return uris.includes(uri) ? uris : [...uris, uri]
}

function isStruct(value: Json | undefined): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
