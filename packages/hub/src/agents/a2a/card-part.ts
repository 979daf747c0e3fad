/**
 * What of a remote agent's card is true of ours: what it can do, and who offers it. Where and how it is reached, who may
 * call it and who vouches for it are ours to say, so its interfaces, its security and its signatures stay behind (B-34).
 */
import type { AgentCard, AgentSkill } from '@parley/a2a'
import type { CardPart } from '../kind.ts'

export function cardPartOf(card: AgentCard): CardPart {
  const { name, description, version, provider, documentationUrl, iconUrl, skills } = card
  return {
    name,
    ...(description !== '' ? { description } : {}),
    ...(version !== '' ? { version } : {}),
    ...(provider !== undefined ? { provider } : {}),
    ...(documentationUrl !== undefined ? { documentationUrl } : {}),
    ...(iconUrl !== undefined ? { iconUrl } : {}),
    skills: skills.map(skillOf),
    ...(card.defaultInputModes.length > 0 ? { inputModes: card.defaultInputModes } : {}),
    ...(card.defaultOutputModes.length > 0 ? { outputModes: card.defaultOutputModes } : {}),
  }
}

function skillOf({ securityRequirements: _, ...skill }: AgentSkill): AgentSkill {
  return skill
}
