/** The card as 1.0 writes it: canonical, without anything that is not a field of it. */
import type { AgentCard } from '../../model/card.ts'
import { carry } from '../write.ts'

export function encodeCard(card: AgentCard): Record<string, unknown> {
  const { stateTransitionHistory: _, ...capabilities } = card.capabilities
  return carry(
    {},
    { ...card, capabilities },
    'name',
    'description',
    'supportedInterfaces',
    'provider',
    'version',
    'documentationUrl',
    'capabilities',
    'securitySchemes',
    'securityRequirements',
    'defaultInputModes',
    'defaultOutputModes',
    'skills',
    'signatures',
    'iconUrl',
  )
}
