/**
 * The agents of this hub as an AI Catalog, version 1.0: a list of where the cards are, with enough beside each to choose
 * without fetching them all. Names and descriptions are the cards' to say, so they are not said twice.
 */
import type { ListedAgent } from './listed-agent.ts'

export const catalogType = 'application/ai-catalog+json'
const cardType = 'application/a2a-agent-card+json'
/** What a caller may use of an agent, which no card that is the same for all can say. */
export const catalogExtension = 'https://parley.dev/extensions/catalog/v1'

export interface Catalog {
  readonly specVersion: '1.0'
  readonly host: { readonly displayName: string; readonly identifier: string }
  readonly entries: readonly CatalogEntry[]
}

export interface CatalogEntry {
  readonly identifier: string
  readonly type: string
  readonly url: string
  readonly tags?: readonly string[]
  readonly extensions: Readonly<Record<string, unknown>>
}

export function catalogOf(agents: readonly ListedAgent[], base: string): Catalog {
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
