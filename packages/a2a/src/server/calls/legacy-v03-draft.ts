/**
 * Supports clients of an early draft of 0.3, which differs from the official text: they read events from an envelope over REST too,
 * expect the question of a client tool on the message and the content of an artifact in `part`, and keep their stream open while
 * they answer a question. They use two paths, `/api/a2a` for JSON-RPC and `/v1` for REST; all other paths are unchanged.
 */
import { clientToolsExtension, traceExtension } from '../../model/extension.ts'
import { isStruct, omitUndefined } from '../../model/struct.ts'
import type { EndpointVariant, VariantRequest, WireObject } from './endpoint-variant.ts'
import { isLegacyVersion } from '../../versions/version.ts'

/** Such clients name no extensions and expect these (S2-13, S2-31). */
const shared = {
  extensions: [traceExtension, clientToolsExtension],
  keepOpenOnInputRequired: true,
  rewrite,
} as const

/**
 * For `endpointVariants`: serves clients of an early draft of A2A 0.3 at `/api/a2a` (JSON-RPC) and `/v1` (REST). Their events have
 * trace ids if `extensions` has `trace()`.
 *
 * @example
 * ```ts
 * const handler = createHandler({ agent, store: memoryStore(), endpointVariants: legacyV03Draft, extensions: [trace()] })
 * ```
 */
export const legacyV03Draft: readonly EndpointVariant[] = [
  {
    ...shared,
    path: '/api/a2a',
    matches: ({ version }) => isLegacyVersion(version),
    streamErrors: 'event',
    streamGetTask: true,
  },
  { ...shared, path: '/v1', matches: isMarkedSend, form: 'json', frame: withResult, errorBody },
]

/** REST requests of this draft mark their message with `kind` (S2-25). ProtoJSON, which has no such field, is unchanged. */
function isMarkedSend({ version, operation, payload }: VariantRequest): boolean {
  if (!isLegacyVersion(version) || (operation !== 'SendMessage' && operation !== 'SendStreamingMessage')) return false
  if (payload === undefined) return true
  const message = isStruct(payload) ? payload['message'] : undefined
  return isStruct(message) && typeof message['kind'] === 'string'
}

/**
 * Serves two readings of one frame: the bare event, and the `result` of an envelope. The draft shows one and its client unwraps the
 * other.
 */
function withResult(json: string): string {
  return `${json.slice(0, -1)},"result":${json}}`
}

/** The errors of the draft over REST, beside the official body: `code` is the HTTP status. */
function errorBody(body: WireObject, { message }: { readonly message: string }, code: number): WireObject {
  const { data } = body
  return { ...body, error: { code, message, ...omitUndefined({ data }) } }
}

function rewrite(object: WireObject): WireObject {
  const { kind, status } = object
  if (kind === 'artifact-update') return withPart(object)
  return isStruct(status) ? { ...object, status: withInputRequest(status) } : object
}

/** `append` and `lastChunk` are always written (S2-7), and the first part is repeated in the only field the draft has (S2-34). */
function withPart(update: WireObject): WireObject {
  const { artifact, append = false, lastChunk = false } = update
  const parts: unknown = isStruct(artifact) ? artifact['parts'] : undefined
  const first: unknown = Array.isArray(parts) ? parts[0] : undefined
  const part = isStruct(first) ? first : { kind: 'text', text: '' }
  return { ...update, append, lastChunk, part: { ...part, index: 0, append } }
}

/** Makes every question answerable for the draft's client by a `tool-result` (S2-13, S2-14). */
function withInputRequest(status: WireObject): WireObject {
  const { state, message } = status
  if (state !== 'input-required' || !isStruct(message)) return status
  return { ...status, message: { ...message, inputRequest: inputRequestOf(message) } }
}

/** The agent's question in the format of the extension; else the first call of a client tool; else the question itself. */
function inputRequestOf(message: WireObject): WireObject {
  const parts = (Array.isArray(message['parts']) ? message['parts'] : []).filter(isStruct)
  const prompt = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
  const plain = { kind: 'input-request', prompt, sensitive: false, requestId: message['messageId'] }
  const asked = clientToolsMetadata(message)['inputRequest']
  if (isStruct(asked)) return { ...plain, ...asked }
  const call = parts.find((part) => clientToolsMetadata(part)['type'] === 'tool-use')?.['data']
  if (!isStruct(call)) return plain
  const { toolUseId, ...rest } = call
  return { ...rest, ...plain, requestId: toolUseId }
}

function clientToolsMetadata({ metadata }: WireObject): WireObject {
  const about = isStruct(metadata) ? metadata[clientToolsExtension] : undefined
  return isStruct(about) ? about : {}
}
