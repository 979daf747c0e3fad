/** What a caller may use of an agent (B-154): a skill may ask for schemes and scopes beyond those of the card. */
import type { Caller } from '../model/caller.ts'
import type { AgentSkill, SecurityRequirement } from '../model/card.ts'
import { A2AError, type ErrorDetails } from '../model/error.ts'
import { quoted } from './auth/challenge.ts'

export function mayUse({ id, securityRequirements = [] }: AgentSkill, caller: Caller): boolean {
  if (caller.skills !== undefined && !caller.skills.includes(id)) return false
  return securityRequirements.length === 0 || securityRequirements.some((one) => meets(one, caller))
}

function meets({ schemes }: SecurityRequirement, { anonymous, schemes: shown, scopes = [] }: Caller): boolean {
  const asked = Object.entries(schemes)
  if (asked.length > 0 && anonymous === true) return false
  // Who was let in by a function of the operator's own is known by scopes alone.
  return asked.every(
    ([name, { list }]) =>
      (shown === undefined || shown.includes(name)) && list.every((scope) => scopes.includes(scope)),
  )
}

/** Throws UNAUTHENTICATED or PERMISSION_DENIED. */
export function permit(skill: AgentSkill, caller: Caller): void {
  if (mayUse(skill, caller)) return
  const scopes = [...new Set((skill.securityRequirements ?? []).flatMap(scopesOf))]
  if (caller.anonymous === true) throw new A2AError('UNAUTHENTICATED', 'This skill needs authentication')
  const scope = scopes.join(' ')
  throw mayNotUse(
    skill.id,
    scope === '' ? {} : { scope, challenge: `Bearer error="insufficient_scope", scope=${quoted(scope)}` },
  )
}

export function mayNotUse(skillId: string, more: ErrorDetails = {}): A2AError {
  return new A2AError('PERMISSION_DENIED', `Insufficient permissions for skill '${skillId}'`, { skillId, ...more })
}

/** Of the first alternative, where there are several: RFC 6750 asks for what would be enough. */
function scopesOf({ schemes }: SecurityRequirement, index: number): readonly string[] {
  return index > 0 ? [] : Object.values(schemes).flatMap(({ list }) => list)
}
