/** What callers who proved who they are may see of an agent beyond its public card (B-136…B-140). */
import type { Caller } from '../model/caller.ts'
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { Resident } from './roster.ts'

/** Throws UNSUPPORTED_OPERATION, UNAUTHENTICATED or EXTENDED_AGENT_CARD_NOT_CONFIGURED. */
export async function extendedCard({ settings }: Resident, card: AgentCard, caller: Caller): Promise<AgentCard> {
  const given = settings.extendedCard
  if (given === undefined) throw new A2AError('UNSUPPORTED_OPERATION', 'This agent has no extended card')
  if (caller.anonymous === true) throw new A2AError('UNAUTHENTICATED', 'The extended card is for known callers')
  const patch = typeof given === 'function' ? await given(caller) : given
  if (patch === undefined || patch === null) {
    throw new A2AError('EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'No extended card is configured')
  }
  return { ...card, ...patch }
}
