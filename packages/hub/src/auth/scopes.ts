/**
 * The permissions of a caller, as words that a key holds, a token may carry and the log keeps with each turn:
 *
 *     agent:gpt           this agent, all its skills          agent:*   every agent
 *     skill:gpt/search    this agent, but only this skill
 *     operation:read      only these operations; without such a word, all
 *
 *     admin               operates the hub, if it comes from the configuration
 *
 * Other words are scopes of the agents' own skills and are ignored here.
 */
import type { Operation } from '@parley/a2a/internal'

export interface ScopePermissions {
  canUse(agent: string): boolean
  canPerform(operation: Operation): boolean
  /** The only permitted skills of the agent; `undefined` means all. */
  skillsOf(agent: string): readonly string[] | undefined
}

const operationGroups: Readonly<Record<Operation, string>> = {
  SendMessage: 'send',
  SendStreamingMessage: 'send',
  GetTask: 'read',
  ListTasks: 'read',
  SubscribeToTask: 'read',
  GetExtendedAgentCard: 'read',
  CancelTask: 'cancel',
  CreateTaskPushNotificationConfig: 'push',
  GetTaskPushNotificationConfig: 'push',
  ListTaskPushNotificationConfigs: 'push',
  DeleteTaskPushNotificationConfig: 'push',
}

/** `send`, `read`, `cancel`, `push`, or the name of one operation. */
export const operationScopeNames: readonly string[] = [
  ...new Set(Object.values(operationGroups)),
  ...Object.keys(operationGroups),
]

const hubScopePattern = /^(agent|skill|operation):(.*)$/s
const agentName = String.raw`[A-Za-z0-9][A-Za-z0-9._~-]{0,63}`
const scopePatterns: Readonly<Record<string, RegExp>> = {
  agent: new RegExp(String.raw`^(\*|${agentName})$`),
  skill: new RegExp(String.raw`^${agentName}/[^\s]{1,256}$`),
  operation: new RegExp(`^(${operationScopeNames.join('|')})$`),
}

/** Returns what is wrong with a scope, or `undefined`. */
export function validateScope(scope: string): string | undefined {
  const [, kind = '', rest = ''] = hubScopePattern.exec(scope) ?? []
  if (kind === '') {
    return /^[\x21-\x7e]{1,256}$/.test(scope) ? undefined : 'must be up to 256 printable characters without spaces'
  }
  if (scopePatterns[kind]?.test(rest) === true) return undefined
  if (kind === 'agent') return 'must be agent:<name>, or agent:* for all'
  if (kind === 'skill') return 'must be skill:<agent>/<skill>'
  return `must be operation: and one of ${operationScopeNames.join(', ')}`
}

/** Operates the hub. Roles of this name are common and mostly mean something else: only the configuration gives it this meaning. */
export const adminScope = 'admin'

/** Whether the hub itself interprets this scope. */
export function isHubScope(scope: string): boolean {
  return hubScopePattern.test(scope) || scope === adminScope
}

const parsedScopes = new WeakMap<readonly string[], ScopePermissions>()
const noPermissions: ScopePermissions = parseScopes([])

/** Parsed once per list, which a key or a token keeps for many requests. */
export function permissionsOf(scopes: readonly string[] | undefined): ScopePermissions {
  if (scopes === undefined) return noPermissions
  let grants = parsedScopes.get(scopes)
  if (grants === undefined) parsedScopes.set(scopes, (grants = parseScopes(scopes)))
  return grants
}

function parseScopes(scopes: readonly string[]): ScopePermissions {
  const agents = new Set<string>()
  const skills = new Map<string, string[]>()
  const permitted = new Set<string>()
  for (const scope of scopes) {
    const [, kind = '', rest = ''] = hubScopePattern.exec(scope) ?? []
    // A malformed scope permits nothing and restricts nothing.
    if (scopePatterns[kind]?.test(rest) !== true) continue
    if (kind === 'agent') agents.add(rest)
    else if (kind === 'operation') permitted.add(rest)
    else {
      const slash = rest.indexOf('/')
      const agent = rest.slice(0, slash)
      skills.set(agent, [...(skills.get(agent) ?? []), rest.slice(slash + 1)])
    }
  }
  const isUnrestricted = (agent: string): boolean => agents.has('*') || agents.has(agent)
  return {
    canUse: (agent) => isUnrestricted(agent) || skills.has(agent),
    canPerform: (operation) =>
      permitted.size === 0 || permitted.has(operation) || permitted.has(operationGroups[operation]),
    skillsOf: (agent) => (isUnrestricted(agent) ? undefined : (skills.get(agent) ?? [])),
  }
}

/**
 * Whether `held` permits everything that `requested` permits, so that callers cannot grant more than they have. Each scope is held
 * itself, or covered by a wider one.
 */
export function coversScopes(held: readonly string[], requested: readonly string[]): boolean {
  const grants = permissionsOf(held)
  const heldOperations = held.filter((scope) => scope.startsWith('operation:'))
  const requestedOperations = requested.filter((scope) => scope.startsWith('operation:'))
  // Without such a scope all operations are permitted.
  if (heldOperations.length > 0 && requestedOperations.length === 0) return false
  return requested.every((scope) => {
    const [, kind = '', rest = ''] = hubScopePattern.exec(scope) ?? []
    if (kind === 'agent') return held.includes('agent:*') || held.includes(scope)
    if (kind === 'skill') return held.includes(scope) || grants.skillsOf(rest.slice(0, rest.indexOf('/'))) === undefined
    if (kind === 'operation') return heldOperations.length === 0 || isCovered(rest, grants)
    return held.includes(scope)
  })
}

function isCovered(word: string, grants: ScopePermissions): boolean {
  const meant = (Object.keys(operationGroups) as Operation[]).filter(
    (name) => name === word || operationGroups[name] === word,
  )
  return meant.length > 0 && meant.every((name) => grants.canPerform(name))
}
