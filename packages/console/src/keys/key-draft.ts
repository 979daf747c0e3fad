/** The form state of a new key, the request to create it, and its permissions as text. */
import type { Key, Operations } from '../api/admin.ts'

export type CreateKeyBody = Operations['createKey']['body']

export interface KeyDraft {
  readonly name: string
  /** `*` for every agent. */
  readonly agents: readonly string[]
  /** Only these skills, if there is exactly one agent. */
  readonly skills: readonly string[]
  /** From `send`, `read`, `cancel`, `push`; empty means all. */
  readonly operations: readonly string[]
  /** A duration, `date` for the day in `until`, or empty. */
  readonly expires: string
  readonly until: string
  readonly rate: string
  readonly tasksPerDay: string
  readonly principal: string
  readonly tenant: string
  /** Additional scopes, separated by spaces. */
  readonly scopes: string
}

export const emptyKeyDraft: KeyDraft = {
  name: '',
  agents: [],
  skills: [],
  operations: [],
  expires: '90d',
  until: '',
  rate: '',
  tasksPerDay: '',
  principal: '',
  tenant: '',
  scopes: '',
}

export const keyOperations: readonly (readonly [word: string, about: string])[] = [
  ['send', 'Send messages'],
  ['read', 'Read and follow tasks'],
  ['cancel', 'Cancel tasks'],
  ['push', 'Set webhooks'],
]

export function toCreateKeyBody(draft: KeyDraft): CreateKeyBody {
  const { name, expires, until, rate, tasksPerDay, principal, tenant } = draft
  const textField = <Name extends string>(field: Name, text: string): { [K in Name]?: string } =>
    text.trim() === '' ? {} : ({ [field]: text.trim() } as { [K in Name]: string })
  return {
    ...textField('name', name),
    scopes: scopesOf(draft),
    ...(expires === 'date' ? (until === '' ? {} : { expiresAt: endOfDay(until) }) : textField('expiresIn', expires)),
    ...textField('rate', rate),
    ...(tasksPerDay.trim() === '' ? {} : { tasksPerDay: Number(tasksPerDay) }),
    ...textField('principal', principal),
    ...textField('tenant', tenant),
  }
}

function scopesOf({ agents, skills, operations, scopes }: KeyDraft): readonly string[] {
  const [only, ...others] = agents
  const isNarrow = skills.length > 0 && only !== undefined && others.length === 0 && only !== '*'
  return [
    ...(isNarrow ? skills.map((skill) => `skill:${only}/${skill}`) : agents.map((agent) => `agent:${agent}`)),
    ...(operations.length === keyOperations.length ? [] : operations.map((word) => `operation:${word}`)),
    ...scopes.split(/\s+/).filter(Boolean),
  ]
}

/** The end of the day in the user's time zone. */
function endOfDay(day: string): string {
  return new Date(`${day}T23:59:59`).toISOString()
}

/** Whether the key permits calls to this agent or to a part of it. */
export function isKeyForAgent({ scopes }: Pick<Key, 'scopes'>, agent: string): boolean {
  return scopes.some(
    (scope) => scope === 'agent:*' || scope === `agent:${agent}` || scope.startsWith(`skill:${agent}/`),
  )
}

export function describeScopes(scopes: readonly string[]): readonly string[] {
  const operations = scopes.flatMap((scope) => /^operation:(.*)$/s.exec(scope)?.[1] ?? [])
  return [
    ...scopes.filter((scope) => !scope.startsWith('operation:')).map(scopeText),
    ...(operations.length > 0 ? [`only ${operations.join(', ')}`] : []),
  ]
}

function scopeText(scope: string): string {
  if (scope === 'agent:*') return 'All agents'
  const [, sort, rest = ''] = /^(agent|skill):(.*)$/s.exec(scope) ?? []
  return sort === undefined ? scope : rest
}

/** Valid keys first, then newest first. */
export function sortKeys(keys: readonly Key[]): readonly Key[] {
  const rank = ({ state }: Key): number => (state === 'active' ? 0 : 1)
  return keys.toSorted((a, b) => rank(a) - rank(b) || b.createdAt.localeCompare(a.createdAt))
}
