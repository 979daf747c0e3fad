/** What authenticated callers may see of an agent beyond its public card (B-136…B-140). */
import type { Caller } from '../../model/caller.ts'
import type { AgentCard } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { RegisteredAgent } from '../agents/registered-agents.ts'
import { canUseSkill, extendedPatch } from '../admission/skill-permissions.ts'

/** Throws UNSUPPORTED_OPERATION, UNAUTHENTICATED or EXTENDED_AGENT_CARD_NOT_CONFIGURED. */
export async function extendedCard({ settings }: RegisteredAgent, card: AgentCard, caller: Caller): Promise<AgentCard> {
  const given = settings.extendedCard
  if (given === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'This agent has no extended card')
  if (caller.anonymous === true) throw new A2AError('UNAUTHENTICATED', 'The extended card requires authentication')
  const patch = await extendedPatch(given, caller)
  if (patch === undefined) {
    throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'No extended card is configured')
  }
  const extended = { ...card, ...patch }
  return { ...extended, skills: extended.skills.filter((skill) => canUseSkill(skill, caller)) }
}
