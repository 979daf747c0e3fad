/** An agent in a listing: its description, its skills and its URL. */
import type { AgentSkill } from '@parley/a2a'
import type { AgentSettings } from '@parley/a2a/server'
import type { AgentStatus } from '../registry/agent-registry.ts'

export interface ListedAgent {
  readonly name: string
  readonly title: string
  readonly description?: string
  readonly version: string
  readonly url: string
  readonly card: string
  readonly tags: readonly string[]
  readonly skills: readonly ListedSkill[]
  /** Whether it accepts messages now. */
  readonly isAvailable: boolean
}

export type ListedSkill = Pick<AgentSkill, 'id' | 'name' | 'description' | 'tags'>

/** `only`: the skills that the caller may use, if not all. */
export function toListedAgent(status: AgentStatus, base: string, only?: readonly string[]): ListedAgent {
  const { name, settings } = status
  const url = `${base}/a2a/${name}`
  const skills = skillsOf(settings).filter(({ id }) => only === undefined || only.includes(id))
  return {
    name,
    title: settings.name ?? name,
    ...(settings.description !== undefined ? { description: settings.description } : {}),
    version: settings.version ?? '1.0.0',
    url,
    card: `${url}/.well-known/agent-card.json`,
    tags: [...new Set(skills.flatMap(({ tags }) => tags))],
    skills,
    isAvailable: status.state === 'open',
  }
}

function skillsOf({ skills = [] }: AgentSettings): readonly ListedSkill[] {
  return skills.map(({ id, name, description, tags }) => ({ id, name, description, tags }))
}

export interface AgentFilter {
  /** Matches names and descriptions, of the agent or of a skill. */
  readonly text?: string | undefined
  readonly tag?: string | undefined
  /** The id or the name of a skill. */
  readonly skill?: string | undefined
}

/** The searchable fields of an agent. */
export type SearchableAgent = Pick<ListedAgent, 'name' | 'title' | 'tags' | 'skills'> & {
  readonly description?: string | undefined
}

/** Ignores case. */
export function matchesFilter(agent: SearchableAgent, { text, tag, skill }: AgentFilter): boolean {
  const { name, title, description = '', tags, skills } = agent
  if (tag !== undefined && !tags.some((one) => equalsIgnoreCase(one, tag))) return false
  if (
    skill !== undefined &&
    !skills.some(({ id, name: called }) => equalsIgnoreCase(id, skill) || equalsIgnoreCase(called, skill))
  )
    return false
  if (text === undefined) return true
  const texts = [name, title, description, ...tags, ...skills.flatMap((one) => [one.id, one.name, one.description])]
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => texts.some((one) => one.toLowerCase().includes(word)))
}

function equalsIgnoreCase(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}
