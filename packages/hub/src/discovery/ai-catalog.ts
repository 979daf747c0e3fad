/**
 * The agents of this hub as an AI Catalog, version 1.0: the locations of the cards, with enough data beside each to choose without
 * fetching them all. Names and descriptions are left to the cards.
 */
import type { ListedAgent } from './listed-agent.ts'

export const catalogType = 'application/ai-catalog+json'
const cardType = 'application/a2a-agent-card+json'
/** The skills that the caller may use, which a card cannot list because it is the same for all callers. */
export const catalogExtension = 'https://parley.dev/extensions/catalog/v1'

export interface AiCatalog {
  readonly specVersion: '1.0'
  readonly host: { readonly displayName: string; readonly identifier: string }
  readonly entries: readonly AiCatalogEntry[]
}

export interface AiCatalogEntry {
  readonly identifier: string
  readonly type: string
  readonly url: string
  readonly tags?: readonly string[]
  readonly extensions: Readonly<Record<string, unknown>>
}

export function buildAiCatalog(agents: readonly ListedAgent[], base: string): AiCatalog {
  const { hostname } = new URL(base)
  return {
    specVersion: '1.0',
    host: { displayName: hostname, identifier: hostname },
    entries: agents.map(({ name, url, card, tags, skills, isAvailable }) => ({
      identifier: `urn:air:${hostname}:a2a:${name}`,
      type: cardType,
      url: card,
      ...(tags.length > 0 ? { tags } : {}),
      extensions: {
        [catalogExtension]: { agent: name, url, available: isAvailable, skills: skills.map(({ id }) => id) },
      },
    })),
  }
}
