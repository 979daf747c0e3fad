/** Which protocol extensions are active for a request, and what they do to its message and to the events it reads (B-141…B-146). */
import type { HttpRequest } from '../bindings/http.ts'
import type { StreamItem } from '../engine/contract.ts'
import { A2AError } from '../model/error.ts'
import type { Json, Message, StreamEvent, Struct } from '../model/task.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import type { CallTerms, Extension, MessageAbout } from './extension.ts'
import type { Resident } from './resident.ts'

const none: readonly string[] = []
/** A card declares a handful; a longer header is noise. */
const mostRequested = 64

/** What the client asks for. On the way of 0.x both spellings of the header are read, the old one first. */
export function requestedExtensions(request: HttpRequest, version: ProtocolVersion): readonly string[] {
  const header = request.header(version.spelling.extensionsHeader.toLowerCase()) ?? request.header('a2a-extensions')
  if (header === undefined || header === '') return none
  const uris = header.split(',', mostRequested).map((uri) => uri.trim())
  return [...new Set(uris.filter((uri) => uri !== ''))]
}

/** Unknown ones are ignored, and a URI matches letter for letter (B-143, B-145). */
export function activeExtensions(requested: readonly string[], { declared }: Resident): readonly string[] {
  return requested.length === 0 ? none : requested.filter((uri) => declared.has(uri))
}

export function requireExtensions(active: readonly string[], { required }: Resident): void {
  const missing = required.filter((uri) => !active.includes(uri))
  if (missing.length === 0) return
  const missingExtensions = missing.join(',')
  throw new A2AError('EXTENSION_SUPPORT_REQUIRED', `These extensions are required: ${missingExtensions}`, {
    missingExtensions,
  })
}

export interface TermedMessage {
  /** Without what was said for the server alone. */
  readonly message: Message
  readonly terms: CallTerms
}

/** What extensions that are active make of the call itself; nothing if none of them was told anything. */
export function termsOf(
  message: Message,
  about: MessageAbout,
  { registered }: Resident,
): Promise<TermedMessage> | undefined {
  const { metadata } = message
  if (about.extensions.length === 0 || metadata === undefined) return undefined
  const asked = registered.filter(
    ({ uri, onCall }) => onCall !== undefined && about.extensions.includes(uri) && metadata[uri] !== undefined,
  )
  return asked.length === 0 ? undefined : askTerms(asked, message, metadata, about)
}

async function askTerms(
  asked: readonly Extension[],
  given: Message,
  said: Struct,
  about: MessageAbout,
): Promise<TermedMessage> {
  const { metadata: _, ...bare } = given
  const rest = Object.entries(said).filter(([key]) => !asked.some(({ uri }) => uri === key))
  const message = rest.length === 0 ? bare : { ...bare, metadata: Object.fromEntries(rest) }
  let terms: CallTerms = {}
  for (const { uri, onCall } of asked) {
    const more = (await onCall?.(said[uri] as Json, message, about)) ?? {}
    const deadlineAt = Math.min(terms.deadlineAt ?? Infinity, more.deadlineAt ?? Infinity)
    terms = { ...terms, ...more, ...(deadlineAt < Infinity ? { deadlineAt } : {}) }
  }
  return { message, terms }
}

/** The message as the extensions that are active leave it, one after the other; nothing if none of them looks at it. */
export function hookMessage(
  message: Message,
  about: MessageAbout,
  { registered }: Resident,
): Promise<Message> | undefined {
  if (about.extensions.length === 0) return undefined
  const hooks = registered.filter(({ uri, onMessage }) => onMessage !== undefined && about.extensions.includes(uri))
  return hooks.length === 0 ? undefined : runHooks(hooks, message, about)
}

async function runHooks(hooks: readonly Extension[], given: Message, about: MessageAbout): Promise<Message> {
  const { messageId, role, taskId, contextId } = given
  let message = given
  for (const extension of hooks) message = (await extension.onMessage?.(message, about)) ?? message
  if (message === given) return given
  // Who says what to which task was checked, and is not for an extension to change.
  const { taskId: _task, contextId: _context, ...rest } = message
  return {
    ...rest,
    messageId,
    role,
    ...(taskId !== undefined ? { taskId } : {}),
    ...(contextId !== undefined ? { contextId } : {}),
  }
}

/** What the extensions of one reader make of events. Readers with the same key share what is made, and its bytes. */
export interface Decoration {
  readonly key: string
  decorate(item: StreamItem): StreamEvent
}

/** Nothing for those who ask for nothing that shows in events. */
export function decorationFor(active: readonly string[], { registered }: Resident): Decoration | undefined {
  if (active.length === 0) return undefined
  const decorating = registered.filter(({ uri, decorate }) => decorate !== undefined && active.includes(uri))
  if (decorating.length === 0) return undefined
  const key = decorating.map(({ uri }) => uri).join(' ')
  return { key, decorate: (item) => decorated(item, key, decorating) }
}

interface Made {
  readonly seq: number | undefined
  readonly event: StreamEvent
}
const made = new WeakMap<StreamEvent, Map<string, Made>>()

/** Kept beside the plain event, so that a thousand readers cost one decoration. */
function decorated(item: StreamItem, extensions: string, decorating: readonly Extension[]): StreamEvent {
  const key = item.gap === true ? `${extensions} gap` : extensions
  let known = made.get(item.event)
  const before = known?.get(key)
  if (before !== undefined && before.seq === item.seq) return before.event
  const event = add(item, decorating)
  if (known === undefined) made.set(item.event, (known = new Map<string, Made>()))
  known.set(key, { seq: item.seq, event })
  return event
}

function add(item: StreamItem, decorating: readonly Extension[]): StreamEvent {
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
