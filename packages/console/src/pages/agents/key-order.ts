/** A key as it is filled in, as it is ordered, and what it is good for in words. */
import type { Key, Operations } from '../../api/admin.ts'

export type KeyOrder = Operations['createKey']['body']

export interface KeyDraft {
  readonly name: string
  /** `*` for every agent. */
  readonly agents: readonly string[]
  /** Of the only agent: these skills and no others. */
  readonly skills: readonly string[]
  /** Of `send`, `read`, `cancel`, `push`; none means all. */
  readonly operations: readonly string[]
  /** A duration, `date` for the day in `until`, or nothing. */
  readonly expires: string
  readonly until: string
  readonly rate: string
  readonly tasksPerDay: string
  readonly principal: string
  readonly tenant: string
  /** Further ones, with spaces between. */
  readonly scopes: string
}

export const emptyKey: KeyDraft = {
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

export const operationWords: readonly (readonly [word: string, about: string])[] = [
  ['send', 'send messages'],
  ['read', 'read and follow tasks'],
  ['cancel', 'cancel tasks'],
  ['push', 'set webhooks'],
]

export function orderOf(draft: KeyDraft): KeyOrder {
  const { name, expires, until, rate, tasksPerDay, principal, tenant } = draft
  const said = <Name extends string>(field: Name, text: string): { [K in Name]?: string } =>
    text.trim() === '' ? {} : ({ [field]: text.trim() } as { [K in Name]: string })
  return {
    ...said('name', name),
    scopes: scopesOf(draft),
    ...(expires === 'date' ? (until === '' ? {} : { expiresAt: endOfDay(until) }) : said('expiresIn', expires)),
    ...said('rate', rate),
    ...(tasksPerDay.trim() === '' ? {} : { tasksPerDay: Number(tasksPerDay) }),
    ...said('principal', principal),
    ...said('tenant', tenant),
  }
}

function scopesOf({ agents, skills, operations, scopes }: KeyDraft): readonly string[] {
  const [only, ...others] = agents
  const isNarrow = skills.length > 0 && only !== undefined && others.length === 0 && only !== '*'
  return [
    ...(isNarrow ? skills.map((skill) => `skill:${only}/${skill}`) : agents.map((agent) => `agent:${agent}`)),
    ...(operations.length === operationWords.length ? [] : operations.map((word) => `operation:${word}`)),
    ...scopes.split(/\s+/).filter(Boolean),
  ]
}

/** The day is meant as the one who chose it has it. */
function endOfDay(day: string): string {
  return new Date(`${day}T23:59:59`).toISOString()
}

/** Whether it opens this agent, or a part of it. */
export function isFor({ scopes }: Pick<Key, 'scopes'>, agent: string): boolean {
  return scopes.some(
    (scope) => scope === 'agent:*' || scope === `agent:${agent}` || scope.startsWith(`skill:${agent}/`),
  )
}

export function scopeWords(scopes: readonly string[]): readonly string[] {
  const operations = scopes.flatMap((scope) => /^operation:(.*)$/s.exec(scope)?.[1] ?? [])
  return [
    ...scopes.filter((scope) => !scope.startsWith('operation:')).map(scopeText),
    ...(operations.length > 0 ? [`only ${operations.join(', ')}`] : []),
  ]
}

function scopeText(scope: string): string {
  if (scope === 'agent:*') return 'every agent'
  const [, sort, rest = ''] = /^(agent|skill):(.*)$/s.exec(scope) ?? []
  return sort === undefined ? scope : rest
}

/** Those that are good first, then the newest. */
export function inOrder(keys: readonly Key[]): readonly Key[] {
  const rank = ({ state }: Key): number => (state === 'active' ? 0 : 1)
  return keys.toSorted((a, b) => rank(a) - rank(b) || b.createdAt.localeCompare(a.createdAt))
}
