/** The document that a card was read from, for who checks its signature: that is over the document, not over our reading. */
import type { AgentCard } from '../model/card.ts'

export interface CardSource {
  readonly document: { readonly [field: string]: unknown }
  /** None: somebody handed it to us. */
  readonly from?: URL
}

const sources = new WeakMap<AgentCard, CardSource>()

export const sourceOf = (card: AgentCard): CardSource | undefined => sources.get(card)

export function withSource(card: AgentCard, document: unknown, from?: URL): AgentCard {
  sources.set(card, { document: document as CardSource['document'], ...(from !== undefined ? { from } : {}) })
  return card
}
