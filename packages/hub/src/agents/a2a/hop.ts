/** What belongs to one hop only: extensions about the line between two peers say nothing about the next line. */
import { cursorExtension, delegationExtension, timestampsExtension, traceExtension } from '@parley/a2a'
import type { AgentCard, Message, Struct, Turn } from '@parley/a2a'

const ofOneHop: ReadonlySet<string> = new Set([
  cursorExtension,
  delegationExtension,
  timestampsExtension,
  traceExtension,
])

/** Without what a peer says about its own log, traces and helpers. Nothing if nothing is left. */
export function metadataOnward(metadata: Struct | undefined): Struct | undefined {
  if (metadata === undefined) return undefined
  // The trace extension says its ids once more beside itself.
  const mirrored = traceExtension in metadata ? ['traceId', 'spanId'] : []
  const kept = Object.entries(metadata).filter(([key]) => !ofOneHop.has(key) && !mirrored.includes(key))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** What of the extensions of a message or an artifact still means something to the next reader. */
export function extensionsOnward(uris: readonly string[] | undefined): readonly string[] {
  return (uris ?? []).filter((uri) => !ofOneHop.has(uri))
}

/**
 * The extensions to ask the remote agent for: those that the caller uses and the agent knows, and those without which it
 * answers nobody, where the configuration says that they may be passed through (B-142, B-144).
 */
export function extensionsFor(
  card: AgentCard,
  { extensions, message }: Pick<Turn, 'extensions'> & { readonly message: Pick<Message, 'extensions'> },
  passed: readonly string[],
): readonly string[] {
  const wanted = new Set(extensionsOnward([...extensions, ...(message.extensions ?? [])]))
  const declared = card.capabilities.extensions ?? []
  return declared
    .filter(({ uri, required }) => wanted.has(uri) || (required === true && passed.includes(uri)))
    .map(({ uri }) => uri)
    .filter((uri) => !ofOneHop.has(uri))
}
