/**
 * One card for a reader whose version is not known: the 1.0 card with the fields of 0.3 beside it (§5.3). The two sets of
 * fields are disjoint except for capabilities, security schemes and skills, which hold both forms key by key.
 */
import type { AgentCard } from '../model/card.ts'
import { encodeLegacyCard } from './v0_3/card.ts'
import { encodeCard } from './v1_0/card.ts'
import { isLegacyVersion } from './version.ts'

type Fields = Record<string, unknown>

/** A card without an interface for 0.x is only a 1.0 card. */
export function mergedCard(card: AgentCard): Fields {
  const modern = encodeCard(card)
  if (!card.supportedInterfaces.some(({ protocolVersion }) => isLegacyVersion(protocolVersion))) return modern
  const legacy = encodeLegacyCard(card, { protocolVersion: '0.3.0', form: 'json' })
  const merged: Fields = { ...legacy, ...modern }
  merged['capabilities'] = { ...(legacy['capabilities'] as Fields), ...(modern['capabilities'] as Fields) }
  const skills = legacy['skills'] as Fields[]
  merged['skills'] = card.skills.map((skill, index) => ({ ...skills[index], ...skill }))
  if (card.securitySchemes !== undefined) {
    const schemes = legacy['securitySchemes'] as Record<string, Fields>
    merged['securitySchemes'] = Object.fromEntries(
      Object.entries(card.securitySchemes).map(([name, scheme]) => [name, { ...scheme, ...schemes[name] }]),
    )
  }
  return merged
}
