/**
 * The fields of a remote card that also apply to the local agent: what it can do and who provides it. This hub sets how the
 * agent is reached, who may call it and who signs its card, so interfaces, security and signatures are dropped (B-34).
 */
import { omitUndefined } from '@parley/a2a'
import type { AgentCard, AgentSkill } from '@parley/a2a'
import type { PartialCard } from '../kind.ts'

export function toPartialCard(card: AgentCard): PartialCard {
  const { name, description, version, provider, documentationUrl, iconUrl, skills } = card
  return {
    name,
    ...(description !== '' ? { description } : {}),
    ...(version !== '' ? { version } : {}),
    ...omitUndefined({ provider, documentationUrl, iconUrl }),
    skills: skills.map(skillOf),
    ...(card.defaultInputModes.length > 0 ? { inputModes: card.defaultInputModes } : {}),
    ...(card.defaultOutputModes.length > 0 ? { outputModes: card.defaultOutputModes } : {}),
  }
}

function skillOf({ securityRequirements: _, ...skill }: AgentSkill): AgentSkill {
  return skill
}
