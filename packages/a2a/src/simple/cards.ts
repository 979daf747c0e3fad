/** The cards of a program that serves simple tasks: its own, and one for each of its agents. */
import { facadeInterface } from '../client/facade-card.ts'
import type { AgentCard, AgentSkill } from '../model/card.ts'
import { skillOfTool } from '../server/tool-skill.ts'
import type { ToolDescription } from '../server/tool-skill.ts'
import { flatCard } from './flat-card.ts'
import type { A2AAgentCard } from './flat-card.ts'
import { ownAddress } from './own-address.ts'

/** A registered MCP tool. `isDefault: false` keeps it for agents that are permitted it by name. */
export interface RegisteredTool extends ToolDescription {
  readonly isDefault?: boolean
}

/** What an agent's card is made of. */
export interface CardAgent {
  readonly id: string
  readonly name: string
  readonly description?: string | null
  readonly version?: string
  /** The names of the tools it may use. Default: the default set. */
  readonly mcpToolPermissions?: readonly string[] | null
}

/** What an agent is like. */
export interface Persona {
  readonly archetype?: string
  readonly traits?: string | readonly string[]
  readonly background?: string
}

/** Skills, or tools by their names, that agents are given together. */
export interface SkillBundle {
  readonly skills?: readonly AgentSkill[]
  readonly tools?: readonly string[]
}

/** Where cards look up what they say; each method may be left out. */
export interface CardDatabase {
  listTools?(): readonly RegisteredTool[]
  getPersona?(agentId: string): Persona | string | null | undefined
  getAgentBundles?(agentId: string): readonly SkillBundle[]
}

/**
 * The card of this instance, with every registered tool as a skill. `baseUrl` is by default what `BIND_HOST` (127.0.0.1) and
 * `PORT` (3000) say.
 *
 * @example
 * const card = buildAgentCard('https://agent.example.com', { listTools: () => tools })
 */
export function buildAgentCard(baseUrl?: string, db: CardDatabase = {}): A2AAgentCard {
  const about = { name: 'Parley', description: 'An agent that takes simple tasks' }
  return cardOf(about, skillsOf(db.listTools?.() ?? []), baseUrl)
}

/**
 * The card of one agent: its tools as skills, as far as `mcpToolPermissions` lets it use them, with what `db` knows of its
 * persona and its bundles of skills.
 *
 * @example
 * const card = buildAgentCardForAgent({ id: 'a1', name: 'Ada' }, 'https://agent.example.com', db)
 */
export function buildAgentCardForAgent(agent: CardAgent, baseUrl?: string, db: CardDatabase = {}): A2AAgentCard {
  const bundles = db.getAgentBundles?.(agent.id) ?? []
  const bundled = bundles.flatMap(({ tools = [] }) => tools)
  const permitted = agent.mcpToolPermissions
  const tools = (db.listTools?.() ?? []).filter(({ name, isDefault }) =>
    permitted ? permitted.includes(name) : isDefault !== false || bundled.includes(name),
  )
  const skills = [...skillsOf(tools), ...bundles.flatMap((bundle) => bundle.skills ?? [])]
  const byId = new Map(skills.map((skill) => [skill.id, skill]))
  const description = [agent.description, personaText(db.getPersona?.(agent.id))].filter(Boolean).join('\n\n')
  return cardOf({ ...agent, description }, [...byId.values()], baseUrl)
}

function skillsOf(tools: readonly ToolDescription[]): readonly AgentSkill[] {
  return tools.map((tool) => skillOfTool(tool, 'mcp'))
}

function personaText(persona: Persona | string | null | undefined): string {
  if (typeof persona === 'string') return persona
  const { archetype, traits, background } = persona ?? {}
  return [archetype, typeof traits === 'string' ? traits : traits?.join(', '), background].filter(Boolean).join('. ')
}

function cardOf(
  { name, description, version = '1.0.0' }: { name: string; description: string; version?: string },
  skills: readonly AgentSkill[],
  baseUrl: string = ownAddress(),
): A2AAgentCard {
  const about = description === '' ? `${name}, an A2A agent` : description
  const card: AgentCard = {
    name,
    description: about,
    version,
    supportedInterfaces: [facadeInterface(baseUrl.replace(/\/+$/, ''))],
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: skills.length > 0 ? skills : [{ id: 'default', name, description: about, tags: ['general'] }],
  }
  return flatCard(card)
}
