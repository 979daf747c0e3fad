/** The card as 1.0 writes it: the canonical card, with its 1.0 fields only. */
import type { AgentCard } from '../../model/card.ts'
import { copyFields } from '../shape.ts'
import { cardFields } from './proto-json.ts'

const names = Object.keys(cardFields) as (keyof AgentCard)[]

export function encodeCard(card: AgentCard): Record<string, unknown> {
  const { stateTransitionHistory: _, ...capabilities } = card.capabilities
  return copyFields({}, { ...card, capabilities }, ...names)
}
