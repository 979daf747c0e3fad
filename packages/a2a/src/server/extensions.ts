/** Which protocol extensions are active for a request, and what ours adds to events when it is (B-141…B-146). */
import type { HttpRequest } from '../bindings/http.ts'
import type { StreamItem } from '../engine/contract.ts'
import { A2AError } from '../model/error.ts'
import { cursorExtension } from '../model/extension.ts'
import type { StreamEvent, Struct } from '../model/task.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import type { Resident } from './roster.ts'

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

const marked = new WeakMap<StreamEvent, { readonly seq: number; readonly event: StreamEvent }>()

/**
 * The event with its place in the log, and with the gap before it, in its metadata. The marked
 * event is kept beside the plain one, so that its bytes are shared as well.
 */
export function withCursor({ event, seq, gap }: StreamItem): StreamEvent {
  if (seq === undefined) return event
  const known = gap === true ? undefined : marked.get(event)
  if (known?.seq === seq) return known.event
  const made = mark(event, { cursor: String(seq), ...(gap === true ? { gap: true } : {}) })
  if (gap !== true) marked.set(event, { seq, event: made })
  return made
}

function mark(event: StreamEvent, note: Struct): StreamEvent {
  const add = <T extends { readonly metadata?: Struct }>(of: T): T => ({
    ...of,
    metadata: { ...of.metadata, [cursorExtension]: note },
  })
  if ('task' in event) return { task: add(event.task) }
  if ('statusUpdate' in event) return { statusUpdate: add(event.statusUpdate) }
  if ('artifactUpdate' in event) return { artifactUpdate: add(event.artifactUpdate) }
  return event
}
