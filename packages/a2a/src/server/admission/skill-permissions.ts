/** Which skills of an agent a caller may use (B-154): a skill may require schemes and scopes beyond those of the card. */
import type { Caller } from '../../model/caller.ts'
import type { AgentSkill, SecurityRequirement } from '../../model/card.ts'
import { A2AError, type ErrorDetails, invalidParams } from '../../model/error.ts'
import type { SendMessageRequest } from '../../model/operation.ts'
import type { RegisteredAgent } from '../agents/registered-agents.ts'
import { quotedString } from '../auth/scheme.ts'
import type { CardPatch, ExtendedCard } from '../options.ts'

export function canUseSkill({ id, securityRequirements = [] }: AgentSkill, caller: Caller): boolean {
  if (caller.skills !== undefined && !caller.skills.includes(id)) return false
  return securityRequirements.length === 0 || securityRequirements.some((one) => meetsRequirement(one, caller))
}

function meetsRequirement(
  { schemes }: SecurityRequirement,
  { anonymous, schemes: shown, scopes = [] }: Caller,
): boolean {
  const asked = Object.entries(schemes)
  if (asked.length > 0 && anonymous === true) return false
  // A caller from an operator's own `authenticate` function has scopes only.
  return asked.every(
    ([name, { list }]) =>
      (shown === undefined || shown.includes(name)) && list.every((scope) => scopes.includes(scope)),
  )
}

/** Throws UNAUTHENTICATED or PERMISSION_DENIED. */
export function requireSkillPermission(skill: AgentSkill, caller: Caller): void {
  if (canUseSkill(skill, caller)) return
  const scopes = [...new Set((skill.securityRequirements ?? []).flatMap(scopesOf))]
  if (caller.anonymous === true) throw new A2AError('UNAUTHENTICATED', 'This skill requires authentication')
  const scope = scopes.join(' ')
  throw skillForbidden(
    skill.id,
    scope === '' ? {} : { scope, challenge: `Bearer error="insufficient_scope", scope=${quotedString(scope)}` },
  )
}

export function skillForbidden(skillId: string, more: ErrorDetails = {}): A2AError {
  return new A2AError('PERMISSION_DENIED', `Insufficient permissions for skill '${skillId}'`, { skillId, ...more })
}

/** The scopes of the first alternative, if there are several: RFC 6750 lists what would be sufficient. */
function scopesOf({ schemes }: SecurityRequirement, index: number): readonly string[] {
  return index > 0 ? [] : Object.values(schemes).flatMap(({ list }) => list)
}

// Whether a caller may send this message to this agent (B-154). A message names its skill in `metadata.skillId`; a message without
// one is left to the agent, which knows the caller.

/** Resolves, or returns at once, if the caller may send this; throws INVALID_PARAMS, UNAUTHENTICATED or PERMISSION_DENIED. */
export function checkSkill(
  request: SendMessageRequest,
  registeredAgent: RegisteredAgent,
  caller: Caller,
): void | Promise<void> {
  const { skills = [], requireSkill } = registeredAgent.settings
  const named = namedSkills(request)
  if (caller.skills !== undefined) checkAllowedSkills(named, caller.skills)
  if (named.length > 0) {
    // An agent that lists no skills has none to check.
    if (skills.length === 0 && registeredAgent.settings.extendedCard === undefined) return undefined
    const [skill] = named
    const known = named.length === 1 ? skills.find(({ id }) => id === skill?.id) : undefined
    return known === undefined
      ? checkNamedSkills(named, registeredAgent, caller)
      : requireSkillPermission(known, caller)
  }
  if (requireSkill === true && request.message.taskId === undefined) {
    throw invalidParams([{ field: 'metadata.skillId', description: 'is required: set one of the skills of the card' }])
  }
  if (skills.length > 0 && !skills.some((skill) => canUseSkill(skill, caller)))
    requireSkillPermission(skills[0] as AgentSkill, caller)
}

/**
 * A caller with a list of skills must also name one in a message that continues a task: another key of the same owner may have
 * begun the task, for another skill.
 */
function checkAllowedSkills(named: readonly NamedSkill[], skills: readonly string[]): void {
  if (named.length === 0) {
    throw new A2AError('PERMISSION_DENIED', 'Set metadata.skillId to a skill that you may use')
  }
  for (const { id } of named) {
    if (typeof id !== 'string' || !skills.includes(id))
      throw skillForbidden(typeof id === 'string' ? id.slice(0, 256) : '')
  }
}

async function checkNamedSkills(
  named: readonly NamedSkill[],
  registeredAgent: RegisteredAgent,
  caller: Caller,
): Promise<void> {
  const { settings } = registeredAgent
  // Skills of the extended card count only for callers who may see it.
  const patch = settings.extendedCard === undefined ? undefined : await extendedPatch(settings.extendedCard, caller)
  const skills = [...(patch?.skills ?? []), ...(settings.skills ?? [])]
  for (const { field, id } of named) {
    const skill = skills.find((one) => one.id === id)
    if (skill === undefined) throw invalidParams([{ field, description: 'is not a skill of this agent' }])
    requireSkillPermission(skill, caller)
  }
}

interface NamedSkill {
  readonly field: string
  readonly id: unknown
}

/** Skills named by the request, as is usual, or by its message; if both name one, both must be allowed. */
function namedSkills({ metadata, message }: SendMessageRequest): readonly NamedSkill[] {
  const places: readonly NamedSkill[] = [
    { field: 'metadata.skillId', id: metadata?.['skillId'] },
    { field: 'message.metadata.skillId', id: message.metadata?.['skillId'] },
  ]
  return places.filter(({ id }) => id !== undefined && id !== null)
}

/** What the extended card adds for this caller; `undefined` if nothing. */
export async function extendedPatch(given: ExtendedCard, caller: Caller): Promise<CardPatch | undefined> {
  return (typeof given === 'function' ? await given(caller) : given) ?? undefined
}
