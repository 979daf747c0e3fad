/** Filters agents by text, kind, tag and health, as given in the address. */
import type { Agent } from '../../../api/admin.ts'
import { urlFilters, type FiltersOf } from '../../../components/filters/url-filters.ts'
import { agentStatus, needsAttention } from '../../../agent/agent-status.ts'

/** `health` is `up`, `slow`, `failing`, `down`, or `care`: all agents that need attention. */
export const agentFilters = urlFilters({ text: String, kind: String, tag: String, health: String })
export type AgentFilters = FiltersOf<typeof agentFilters>

export function matchesAgentFilters(agent: Agent, { text, kind, tag, health }: AgentFilters): boolean {
  if (kind !== '' && agent.kind !== kind) return false
  if (tag !== '' && !agent.tags.includes(tag)) return false
  if (health === 'care' ? !needsAttention(agent) : health !== '' && healthOf(agent) !== health) return false
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return true
  const searched = agentSearchText(agent)
  return words.every((word) => searched.includes(word))
}

/** Blocked and unavailable agents count as `down`, because they cannot be called. */
function healthOf(agent: Agent): string {
  const { word } = agentStatus(agent)
  return word === 'blocked' || word === 'unavailable' ? 'down' : word
}

function agentSearchText({ name, title, description = '', kind, tags, skills }: Agent): string {
  const skillWords = skills.flatMap((skill) => [skill.id, skill.name, skill.description])
  return [name, title, description, kind, ...tags, ...skillWords].join('\n').toLowerCase()
}

export function agentKinds(agents: readonly Agent[]): readonly string[] {
  return [...new Set(agents.map(({ kind }) => kind))].toSorted()
}

export function agentTags(agents: readonly Agent[]): readonly string[] {
  return [...new Set(agents.flatMap(({ tags }) => tags))].toSorted()
}
