/**
 * Secrets that users and programs send in the middle of a task: how they are marked, how an agent asks for one, and what is stored
 * in its place. The turn that asked for a secret receives it. The log holds a placeholder, and with it the history, every later
 * read, every trace and every screen (B-156, B-161).
 */
import { isStruct } from './struct.ts'
import type { SecurityRequirement, SecurityScheme } from './card.ts'
import { clientToolsExtension, credentialsExtension } from './extension.ts'
import type { Json, Message, Part, Struct } from './task.ts'

export const redactedText = '[redacted]'

/** The common fields of a question and an answer. */
interface SecretCarrier {
  readonly parts: readonly Part[]
  readonly metadata?: Struct
  readonly extensions?: readonly string[]
}

/** The credentials that an agent asks the client to obtain, in the terms of an agent card. */
export interface CredentialRequest {
  readonly schemes?: { readonly [name: string]: SecurityScheme }
  /** Which schemes are needed together; by default any one of them. */
  readonly requirements?: readonly SecurityRequirement[]
  /** The client may send the credentials in the next message of the task instead of out of band (B-156). */
  readonly inBand?: boolean
}

/** A question whose answer is a secret. */
export function withSecretRequest<T extends SecretCarrier>(question: T, requestId: string): T {
  const prompt = question.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
  const inputRequest = { kind: 'input-request', requestId, prompt, sensitive: true }
  const ours = { ...extensionMetadata(question.metadata, clientToolsExtension), inputRequest }
  return {
    ...question,
    metadata: { ...question.metadata, [clientToolsExtension]: ours },
    extensions: withUri(question.extensions, clientToolsExtension),
  }
}

/**
 * A request for credentials: the explanation, and the required schemes as a data part (B-155, B-161), if the request names any.
 */
export function withAuthRequest<T extends SecretCarrier>(
  explanation: T,
  { schemes, requirements, inBand }: CredentialRequest,
): T {
  const data = {
    ...(schemes !== undefined ? { securitySchemes: schemes } : {}),
    ...(requirements !== undefined ? { securityRequirements: requirements } : {}),
    ...(inBand === true ? { inBand } : {}),
  }
  if (Object.keys(data).length === 0) return explanation
  const part: Part = { data: data as unknown as Json, metadata: { [credentialsExtension]: { type: 'auth-request' } } }
  return {
    ...explanation,
    parts: [...explanation.parts, part],
    extensions: withUri(explanation.extensions, credentialsExtension),
  }
}

/** Whether every answer to this question is a secret, marked or not. */
export function asksForSecret(question: SecretCarrier | undefined): boolean {
  if (question === undefined) return false
  const request = extensionMetadata(question.metadata, clientToolsExtension)['inputRequest']
  if (isStruct(request) && request['sensitive'] === true) return true
  return question.parts.some((part) => authRequestIn(part)?.['inBand'] === true)
}

/** The content of a request for credentials; `undefined` for other parts. */
export function authRequestIn(part: Part): Struct | undefined {
  const { type } = extensionMetadata(part.metadata, credentialsExtension)
  return type === 'auth-request' && 'data' in part && isStruct(part.data) ? part.data : undefined
}

/**
 * The message as it may be stored; `undefined` if it may be stored unchanged. `all`: everything in it was asked for as a secret.
 */
export function redact(message: Message, all: boolean): Message | undefined {
  const whole = all || (message.metadata !== undefined && isMarked(message.metadata))
  if (!whole && !message.parts.some(isSecret)) return undefined
  return { ...message, parts: message.parts.map((part) => (whole || isSecret(part) ? redactPart(part) : part)) }
}

/**
 * Returns whether a placeholder replaced a secret in a part, or in any part of a message. The secret must be asked for again.
 */
export function isRedacted(said: Part | Pick<Message, 'parts'>): boolean {
  if ('parts' in said) return said.parts.some(isRedacted)
  return extensionMetadata(said.metadata, credentialsExtension)['redacted'] === true
}

/** The text of a secret that was not sent as text: the answer to a question, or a credential. */
export function secretTextIn(part: Part): string | undefined {
  if (!('data' in part) || !isSecret(part) || !isStruct(part.data)) return undefined
  const { result, credentials } = part.data
  return [result, credentials].find((value) => typeof value === 'string')
}

function isSecret({ metadata }: Part): boolean {
  return metadata !== undefined && isMarked(metadata)
}

function isMarked(metadata: Struct): boolean {
  const { type, sensitive } = extensionMetadata(metadata, credentialsExtension)
  return (
    type === 'credentials' ||
    sensitive === true ||
    extensionMetadata(metadata, clientToolsExtension)['sensitive'] === true
  )
}

/** Keeps only the kind of the part and the call that it answers. */
function redactPart(part: Part): Part {
  const metadata: Record<string, Json> = {}
  for (const uri of [clientToolsExtension, credentialsExtension]) {
    const { type } = extensionMetadata(part.metadata, uri)
    if (typeof type === 'string') metadata[uri] = { type }
  }
  metadata[credentialsExtension] = {
    ...(metadata[credentialsExtension] as Struct | undefined),
    sensitive: true,
    redacted: true,
  }
  if (!('data' in part)) return { text: redactedText, metadata }
  const toolUseId = isStruct(part.data) ? part.data['toolUseId'] : undefined
  return { data: { ...(typeof toolUseId === 'string' ? { toolUseId } : {}), redacted: true }, metadata }
}

function extensionMetadata(metadata: Struct | undefined, uri: string): Struct {
  const about = metadata?.[uri]
  return isStruct(about) ? about : {}
}

function withUri(uris: readonly string[] = [], uri: string): readonly string[] {
  return uris.includes(uri) ? uris : [...uris, uri]
}

// The original content of a redacted message, for the one turn that receives it. In memory only and taken once: after a crash, or if
// another process resumes the task, the turn finds the placeholder too and has to ask again.

/** By the message that is written, which passes through the log's queue and the fold as the same object. */
const originals = new WeakMap<Message, Message>()

/** The message as it may be written; the same object if it has no secrets. */
export function hideSecrets(message: Message, wasAskedFor: boolean): Message {
  const kept = redact(message, wasAskedFor)
  if (kept === undefined) return message
  originals.set(kept, message)
  return kept
}

/** The message as received, once. */
export function revealSecrets(message: Message): Message {
  const found = originals.get(message)
  if (found === undefined) return message
  originals.delete(message)
  return found
}
