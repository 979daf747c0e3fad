/**
 * Whether a caller may send this message to this agent (B-154). A message names the skill it means in `metadata.skillId`;
 * one that names none is for the agent to judge, who knows the caller.
 */
import type { Caller } from '../model/caller.ts'
import type { AgentSkill } from '../model/card.ts'
import { A2AError, invalidParams } from '../model/error.ts'
import type { SendMessageRequest } from '../model/operation.ts'
import { extendedPatch } from './extended-card.ts'
import type { Resident } from './resident.ts'
import { mayNotUse, mayUse, permit } from './skills.ts'

/** Resolves, or returns at once, if the caller may send this; throws INVALID_PARAMS, UNAUTHENTICATED or PERMISSION_DENIED. */
export function checkSkill(request: SendMessageRequest, resident: Resident, caller: Caller): void | Promise<void> {
  const { skills = [], requireSkill } = resident.settings
  const named = namedSkills(request)
  if (caller.skills !== undefined) checkListed(named, caller.skills)
  if (named.length > 0) {
    // Nothing can be said of the skills of an agent that lists none.
    if (skills.length === 0 && resident.settings.extendedCard === undefined) return undefined
    const [skill] = named
    const known = named.length === 1 ? skills.find(({ id }) => id === skill?.id) : undefined
    return known === undefined ? checkNamed(named, resident, caller) : permit(known, caller)
  }
  if (requireSkill === true && request.message.taskId === undefined) {
    throw invalidParams([{ field: 'metadata.skillId', description: 'is required: name one of the skills of the card' }])
  }
  if (skills.length > 0 && !skills.some((skill) => mayUse(skill, caller))) permit(skills[0] as AgentSkill, caller)
}

/**
 * Of a caller who may use some skills only, also a message that goes on with a task has to name one: the task may have been
 * begun by another key of the same owner, for another skill.
 */
function checkListed(named: readonly Named[], skills: readonly string[]): void {
  if (named.length === 0) {
    throw new A2AError('PERMISSION_DENIED', 'Name one of the skills that you may use in metadata.skillId')
  }
  for (const { id } of named) {
    if (typeof id !== 'string' || !skills.includes(id)) throw mayNotUse(typeof id === 'string' ? id.slice(0, 256) : '')
  }
}

async function checkNamed(named: readonly Named[], resident: Resident, caller: Caller): Promise<void> {
  const { settings } = resident
  // Skills of the extended card are skills only for those who are shown it.
  const patch = settings.extendedCard === undefined ? undefined : await extendedPatch(settings.extendedCard, caller)
  const skills = [...(patch?.skills ?? []), ...(settings.skills ?? [])]
  for (const { field, id } of named) {
    const skill = skills.find((one) => one.id === id)
    if (skill === undefined) throw invalidParams([{ field, description: 'names no skill of this agent' }])
    permit(skill, caller)
  }
}

interface Named {
  readonly field: string
  readonly id: unknown
}

/** By the request, as is usual, or by its message; where both do, both have to be allowed. */
function namedSkills({ metadata, message }: SendMessageRequest): readonly Named[] {
  const places: readonly Named[] = [
    { field: 'metadata.skillId', id: metadata?.['skillId'] },
    { field: 'message.metadata.skillId', id: message.metadata?.['skillId'] },
  ]
  return places.filter(({ id }) => id !== undefined && id !== null)
}
