/**
 * What a caller may use: its tenant, the skills of an agent and the extended card. A skill may require schemes and scopes beyond those
 * of the card (B-154).
 */
import type { Caller } from '../../model/caller.ts'
import type { AgentCard, AgentSkill, SecurityRequirement } from '../../model/card.ts'
import { A2AError, type ErrorDetails, invalidParams } from '../../model/error.ts'
import type { SendMessageRequest } from '../../model/operation.ts'
import type { RegisteredAgent } from '../agents/registered-agents.ts'
import { quotedString } from '../auth/scheme.ts'
import type { CardPatch, ExtendedCard, TenantOptions } from '../options.ts'
import { findParameter } from '../../bindings/http.ts'
import { ConfigError } from '../config-error.ts'

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

// Resolves the tenant of a call (B-165…B-167). A tenant is a partition: tasks of one tenant are invisible to another. The path,
// the payload or the caller names it, and it must always be one that the caller may use; any other is reported as not found.

export interface Tenants {
  /** Empty if no tenants are configured. */
  readonly declared: readonly string[]
  /** Whether paths may begin with a tenant. */
  readonly inPaths: boolean
  /** Returns the tenant of the call. Throws the error for an unknown tenant. */
  resolve(asked: string | undefined, caller: Caller): string
}

/** Path segments in the position of a tenant that have another meaning (B-167). */
const reservedTenantNames: ReadonlySet<string> = new Set([
  'message:send',
  'message:stream',
  'tasks',
  'extendedAgentCard',
  'v1',
  '.well-known',
  'a2a',
  'api',
  'agent',
  'agents',
  'agent-card',
  'admin',
  'mcp',
  'healthz',
  'readyz',
  'metrics',
])

export function createTenants(options: TenantOptions | undefined, agents: Iterable<string>): Tenants {
  if (options === undefined) return { declared: [], inPaths: false, resolve: requireOwnTenant }
  const { declared } = options
  const names = new Set(agents)
  declared.forEach((tenant, index) => checkName(tenant, `tenants.declared[${index}]`, names))
  const known = new Set(declared)
  return {
    declared,
    inPaths: true,
    resolve(asked, caller) {
      if (asked === undefined || asked === '' || asked === caller.tenant) return caller.tenant ?? ''
      const own = options.allowedTenants === undefined ? tenantsOfCaller(caller) : options.allowedTenants(caller)
      if (own === undefined ? known.has(asked) : own.includes(asked)) return asked
      throw new A2AError('TASK_NOT_FOUND', 'Unknown tenant')
    },
  }
}

function tenantsOfCaller({ tenant, tenants }: Caller): readonly string[] | undefined {
  return tenants ?? (tenant === undefined ? undefined : [tenant])
}

function requireOwnTenant(asked: string | undefined, { tenant = '' }: Caller): string {
  if (asked === undefined || asked === '' || asked === tenant) return tenant
  throw invalidParams([{ field: 'tenant', description: 'names a tenant, but this agent declares none' }])
}

function checkName(tenant: string, where: string, agents: ReadonlySet<string>): void {
  if (!/^\P{Cc}{1,256}$/u.test(tenant)) throw new ConfigError(where, 'must have 1 to 256 characters')
  if (reservedTenantNames.has(tenant)) throw new ConfigError(where, 'is reserved: choose another name')
  if (agents.has(tenant)) throw new ConfigError(where, 'is the name of an agent: choose another name')
}

/** A path and a payload that name different tenants are an error of the caller (B-166). */
export function checkPathTenant(tenant: unknown, body: unknown, query: string): void {
  const named = [
    typeof body === 'object' && body !== null && 'tenant' in body ? body.tenant : undefined,
    findParameter(query, 'tenant'),
  ]
  if (named.every((other) => other === undefined || other === null || other === '' || other === tenant)) return
  throw invalidParams([{ field: 'tenant', description: 'differs from the tenant in the path' }])
}

// What authenticated callers may see of an agent beyond its public card (B-136…B-140).

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
