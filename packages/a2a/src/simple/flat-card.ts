/** A card with the single URL that older programs read, beside the list of interfaces. */
import type { AgentCard } from '../model/card.ts'

/** An agent card, with the URL of the agent. */
export interface A2AAgentCard extends AgentCard {
  readonly url: string
}

export function flatCard(card: AgentCard, url: string = card.supportedInterfaces[0]?.url ?? ''): A2AAgentCard {
  return { ...card, url }
}
