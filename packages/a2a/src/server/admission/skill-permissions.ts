/** Which skills of an agent a caller may use (B-154): a skill may require schemes and scopes beyond those of the card. */
import type { Caller } from '../../model/caller.ts'
import type { AgentSkill, SecurityRequirement } from '../../model/card.ts'
import { A2AError, type ErrorDetails } from '../../model/error.ts'
import { quotedString } from '../auth/challenge.ts'

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
