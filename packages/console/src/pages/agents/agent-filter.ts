/** Which agents are meant: by text, kind, tag and health, as the address of the page says it. */
import type { Agent } from '../../api/admin.ts'
import { agentLook, needsCare } from './agent-look.ts'

export interface AgentFilter {
  readonly text: string
  readonly kind: string
  readonly tag: string
  /** `up`, `slow`, `down`, or `care`: all that somebody should look at. */
  readonly health: string
}

export function filterOf(query: URLSearchParams): AgentFilter {
  const word = (name: string): string => query.get(name) ?? ''
  return { text: word('text'), kind: word('kind'), tag: word('tag'), health: word('health') }
}

export function isFiltered(filter: AgentFilter): boolean {
  return Object.values(filter).some((word: string) => word !== '')
}

export function fits(agent: Agent, { text, kind, tag, health }: AgentFilter): boolean {
  if (kind !== '' && agent.kind !== kind) return false
  if (tag !== '' && !agent.tags.includes(tag)) return false
  if (health === 'care' ? !needsCare(agent) : health !== '' && healthOf(agent) !== health) return false
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return true
  const said = saidOf(agent)
  return words.every((word) => said.includes(word))
}

/** Blocked and unavailable ones cannot be called, which is what one who asks for `down` wants to know. */
function healthOf(agent: Agent): string {
  const { word } = agentLook(agent)
  return word === 'blocked' || word === 'unavailable' ? 'down' : word
}

function saidOf({ name, title, description = '', kind, tags, skills }: Agent): string {
  const skillWords = skills.flatMap((skill) => [skill.id, skill.name, skill.description])
  return [name, title, description, kind, ...tags, ...skillWords].join('\n').toLowerCase()
}

export function kindsIn(agents: readonly Agent[]): readonly string[] {
  return [...new Set(agents.map(({ kind }) => kind))].toSorted()
}

export function tagsIn(agents: readonly Agent[]): readonly string[] {
  return [...new Set(agents.flatMap(({ tags }) => tags))].toSorted()
}
