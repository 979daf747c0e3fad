/** What applies to one hop only: extensions about the connection between two peers mean nothing to the next one. */
import { cursorExtension, delegationExtension, timestampsExtension, traceExtension } from '@parley/a2a'
import type { AgentCard, Message, Struct, Turn } from '@parley/a2a'

const hopByHopExtensions: ReadonlySet<string> = new Set([
  cursorExtension,
  delegationExtension,
  timestampsExtension,
  traceExtension,
])

/** Removes what a peer says about its own log, traces and child tasks. Returns undefined if nothing is left. */
export function forwardedMetadata(metadata: Struct | undefined): Struct | undefined {
  if (metadata === undefined) return undefined
  // The trace extension repeats its ids next to its own entry.
  const mirrored = traceExtension in metadata ? ['traceId', 'spanId'] : []
  const kept = Object.entries(metadata).filter(([key]) => !hopByHopExtensions.has(key) && !mirrored.includes(key))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** The extensions of a message or an artifact that still apply for the next reader. */
export function forwardedExtensions(uris: readonly string[] | undefined): readonly string[] {
  return (uris ?? []).filter((uri) => !hopByHopExtensions.has(uri))
}

/**
 * The extensions to request from the remote agent: those that the caller uses and the agent supports, and those that the
 * agent requires if the configuration allows passing them through (B-142, B-144).
 */
export function requestedExtensions(
  card: AgentCard,
  { extensions, message }: Pick<Turn, 'extensions'> & { readonly message: Pick<Message, 'extensions'> },
  passThrough: readonly string[],
): readonly string[] {
  const wanted = new Set(forwardedExtensions([...extensions, ...(message.extensions ?? [])]))
  const declared = card.capabilities.extensions ?? []
  return declared
    .filter(({ uri, required }) => wanted.has(uri) || (required === true && passThrough.includes(uri)))
    .map(({ uri }) => uri)
    .filter((uri) => !hopByHopExtensions.has(uri))
}
