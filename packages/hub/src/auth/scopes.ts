/**
 * What a caller may do, in words that a key holds, a token may carry and the log keeps with each turn:
 *
 *     agent:gpt           this agent, all its skills          agent:*   every agent
 *     skill:gpt/search    this agent, but only this skill
 *     operation:read      these operations only; without a word of this sort, all
 *
 *     admin               runs the hub, if it comes from the configuration
 *
 * Words that begin otherwise are scopes of the agents' own skills, and say nothing here.
 */
import type { Operation } from '@parley/a2a'

export interface Grants {
  mayUse(agent: string): boolean
  mayDo(operation: Operation): boolean
  /** The only skills of the agent that are meant; nothing means all. */
  skillsOf(agent: string): readonly string[] | undefined
}

const operations: Readonly<Record<Operation, string>> = {
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

/** `send`, `read`, `cancel`, `push`, or one operation by its own name. */
export const operationWords: readonly string[] = [...new Set(Object.values(operations)), ...Object.keys(operations)]

const ours = /^(agent|skill|operation):(.*)$/s
const agentName = String.raw`[A-Za-z0-9][A-Za-z0-9._~-]{0,63}`
const wellFormed: Readonly<Record<string, RegExp>> = {
  agent: new RegExp(String.raw`^(\*|${agentName})$`),
  skill: new RegExp(String.raw`^${agentName}/[^\s]{1,256}$`),
  operation: new RegExp(`^(${operationWords.join('|')})$`),
}

/** What is wrong with a word, if anything is. */
export function whatIsWrongWithScope(scope: string): string | undefined {
  const [, sort = '', rest = ''] = ours.exec(scope) ?? []
  if (sort === '') {
    return /^[\x21-\x7e]{1,256}$/.test(scope) ? undefined : 'a scope is up to 256 visible characters without a space'
  }
  if (wellFormed[sort]?.test(rest) === true) return undefined
  if (sort === 'agent') return 'write agent:<name>, or agent:* for all'
  if (sort === 'skill') return 'write skill:<agent>/<skill>'
  return `write operation: and one of ${operationWords.join(', ')}`
}

/** Runs the hub. A role called so is common and mostly means something else: only the configuration makes it mean this. */
export const adminScope = 'admin'

/** Whether the hub itself goes by this word. */
export function isOurs(scope: string): boolean {
  return ours.test(scope) || scope === adminScope
}

const known = new WeakMap<readonly string[], Grants>()
const none: Grants = read([])

/** Read once for each list, which a key or a token keeps for many requests. */
export function grantsOf(scopes: readonly string[] | undefined): Grants {
  if (scopes === undefined) return none
  let grants = known.get(scopes)
  if (grants === undefined) known.set(scopes, (grants = read(scopes)))
  return grants
}

function read(scopes: readonly string[]): Grants {
  const agents = new Set<string>()
  const skills = new Map<string, string[]>()
  const permitted = new Set<string>()
  for (const scope of scopes) {
    const [, sort = '', rest = ''] = ours.exec(scope) ?? []
    // A word that was written wrongly permits nothing, and takes nothing away.
    if (wellFormed[sort]?.test(rest) !== true) continue
    if (sort === 'agent') agents.add(rest)
    else if (sort === 'operation') permitted.add(rest)
    else {
      const slash = rest.indexOf('/')
      const agent = rest.slice(0, slash)
      skills.set(agent, [...(skills.get(agent) ?? []), rest.slice(slash + 1)])
    }
  }
  const isWhole = (agent: string): boolean => agents.has('*') || agents.has(agent)
  return {
    mayUse: (agent) => isWhole(agent) || skills.has(agent),
    mayDo: (operation) => permitted.size === 0 || permitted.has(operation) || permitted.has(operations[operation]),
    skillsOf: (agent) => (isWhole(agent) ? undefined : (skills.get(agent) ?? [])),
  }
}

/**
 * Whether everything that `asked` permits is permitted by `held`, too: nobody may give away more than they have. Each word
 * is held itself, or covered by a wider one.
 */
export function covers(held: readonly string[], asked: readonly string[]): boolean {
  const grants = grantsOf(held)
  const narrowed = held.filter((scope) => scope.startsWith('operation:'))
  const asksFor = asked.filter((scope) => scope.startsWith('operation:'))
  // Without such a word all operations are meant.
  if (narrowed.length > 0 && asksFor.length === 0) return false
  return asked.every((scope) => {
    const [, sort = '', rest = ''] = ours.exec(scope) ?? []
    if (sort === 'agent') return held.includes('agent:*') || held.includes(scope)
    if (sort === 'skill') return held.includes(scope) || grants.skillsOf(rest.slice(0, rest.indexOf('/'))) === undefined
    if (sort === 'operation') return narrowed.length === 0 || isCovered(rest, grants)
    return held.includes(scope)
  })
}

function isCovered(word: string, grants: Grants): boolean {
  const meant = (Object.keys(operations) as Operation[]).filter((name) => name === word || operations[name] === word)
  return meant.length > 0 && meant.every((name) => grants.mayDo(name))
}
