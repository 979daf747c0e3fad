/** The card as 1.0 writes it: the canonical card, with its 1.0 fields only. */
import type { AgentCard } from '../../model/card.ts'
import { copyFields } from '../shape.ts'

export function encodeCard(card: AgentCard): Record<string, unknown> {
  const { stateTransitionHistory: _, ...capabilities } = card.capabilities
  return copyFields(
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
