/** Determines the active protocol extensions of a request, and applies them to its message and its events (B-141…B-146). */
import type { HttpRequest } from '../../bindings/http.ts'
import type { StreamItem } from '../../engine/contract.ts'
import { A2AError } from '../../model/error.ts'
import type { Message, StreamEvent, Struct } from '../../model/task.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type { Extension, MessageContext } from './extension.ts'
import type { RegisteredAgent } from '../agents/registered-agents.ts'

const none: readonly string[] = []
/** A card declares a handful; the rest of a longer header is ignored. */
const maxRequested = 64

/** The extensions that the client requests. In 0.x both spellings of the header are read, the old one first. */
export function requestedExtensions(request: HttpRequest, version: ProtocolVersion): readonly string[] {
  const header = request.header(version.spelling.extensionsHeader.toLowerCase()) ?? request.header('a2a-extensions')
  if (header === undefined || header === '') return none
  const uris = header.split(',', maxRequested).map((uri) => uri.trim())
  return [...new Set(uris.filter((uri) => uri !== ''))]
}

/** Unknown extensions are ignored; URIs are compared exactly (B-143, B-145). */
export function activeExtensions(requested: readonly string[], { declared }: RegisteredAgent): readonly string[] {
  return requested.length === 0 ? none : requested.filter((uri) => declared.has(uri))
}

export function requireExtensions(active: readonly string[], { required }: RegisteredAgent): void {
  const missing = required.filter((uri) => !active.includes(uri))
  if (missing.length === 0) return
  const missingExtensions = missing.join(',')
  throw new A2AError('EXTENSION_SUPPORT_REQUIRED', `These extensions are required: ${missingExtensions}`, {
    missingExtensions,
  })
}

/** The active extensions that may constrain this call: those that the message has metadata for. */
export function callHooksFor(
  { metadata }: Message,
  { extensions }: Pick<MessageContext, 'extensions'>,
  { installedExtensions }: RegisteredAgent,
): readonly Extension[] {
  if (extensions.length === 0 || metadata === undefined) return []
  return installedExtensions.filter(
    ({ uri, onCall }) => onCall !== undefined && extensions.includes(uri) && metadata[uri] !== undefined,
  )
}

/** The message without the metadata of these extensions, which are for the server alone. */
export function withoutHookMetadata(message: Message, hooks: readonly Extension[]): Message {
  const { metadata = {}, ...bare } = message
  const rest = Object.entries(metadata).filter(([key]) => !hooks.some(({ uri }) => uri === key))
  return rest.length === 0 ? bare : { ...bare, metadata: Object.fromEntries(rest) }
}

/** The message after the hooks of all active extensions, in order; `undefined` if none has a hook. */
export function applyMessageHooks(
  message: Message,
  about: MessageContext,
  { installedExtensions }: RegisteredAgent,
): Promise<Message> | undefined {
  if (about.extensions.length === 0) return undefined
  const hooks = installedExtensions.filter(
    ({ uri, onMessage }) => onMessage !== undefined && about.extensions.includes(uri),
  )
  return hooks.length === 0 ? undefined : runMessageHooks(hooks, message, about)
}

async function runMessageHooks(hooks: readonly Extension[], given: Message, about: MessageContext): Promise<Message> {
  const { messageId, role, taskId, contextId } = given
  let message = given
  for (const extension of hooks) message = (await extension.onMessage?.(message, about)) ?? message
  if (message === given) return given
  // Ids and role were checked, and an extension must not change them.
  const { taskId: _task, contextId: _context, ...rest } = message
  return {
    ...rest,
    messageId,
    role,
    ...(taskId !== undefined ? { taskId } : {}),
    ...(contextId !== undefined ? { contextId } : {}),
  }
}

/** Adds the extensions of one reader to events. Readers with the same key share the result and its bytes. */
export interface EventDecorator {
  readonly key: string
  decorate(item: StreamItem): StreamEvent
}

/** Returns `undefined` if no requested extension changes events. */
export function eventDecoratorFor(
  active: readonly string[],
  { installedExtensions }: RegisteredAgent,
): EventDecorator | undefined {
  if (active.length === 0) return undefined
  const decorating = installedExtensions.filter(({ uri, decorate }) => decorate !== undefined && active.includes(uri))
  if (decorating.length === 0) return undefined
  const key = decorating.map(({ uri }) => uri).join(' ')
  return { key, decorate: (item) => decorateOnce(item, key, decorating) }
}

interface DecoratedEvent {
  readonly seq: number | undefined
  readonly event: StreamEvent
}
const decoratedEvents = new WeakMap<StreamEvent, Map<string, DecoratedEvent>>()

/** Cached beside the plain event, so that a thousand readers cost one decoration. */
function decorateOnce(item: StreamItem, extensions: string, decorating: readonly Extension[]): StreamEvent {
  const key = item.gap === true ? `${extensions} gap` : extensions
  let known = decoratedEvents.get(item.event)
  const before = known?.get(key)
  if (before !== undefined && before.seq === item.seq) return before.event
  const event = addEventMetadata(item, decorating)
  if (known === undefined) decoratedEvents.set(item.event, (known = new Map<string, DecoratedEvent>()))
  known.set(key, { seq: item.seq, event })
  return event
}

function addEventMetadata(item: StreamItem, decorating: readonly Extension[]): StreamEvent {
  const { event } = item
  let notes: Struct | undefined
  for (const extension of decorating) {
    const note = extension.decorate?.(item)
    if (note !== undefined) notes = { ...notes, ...note }
  }
  if (notes === undefined) return event
  const note = <T extends { readonly metadata?: Struct }>(of: T): T => ({
    ...of,
    metadata: { ...of.metadata, ...notes },
  })
  if ('task' in event) return { task: note(event.task) }
  if ('statusUpdate' in event) return { statusUpdate: note(event.statusUpdate) }
  if ('artifactUpdate' in event) return { artifactUpdate: note(event.artifactUpdate) }
  return { message: note(event.message) }
}
