/** The cards of a program that serves simple tasks: its own, and one for each of its agents. */
import { simpleTasksInterface } from '../client/simple-tasks/simple-tasks-card.ts'
import type { AgentCard, AgentSkill } from '../model/card.ts'
import { skillOfTool, type ToolDescription } from '../server/cards/tool-skill.ts'
import { flatCard, type A2AAgentCard } from './flat-card.ts'
import { ownAddress } from './own-address.ts'

/** A registered MCP tool. `isDefault: false` reserves it for agents that are permitted it by name. */
export interface RegisteredTool extends ToolDescription {
  readonly isDefault?: boolean
}

/** The fields that an agent's card is built from. */
export interface CardAgent {
  readonly id: string
  readonly name: string
  readonly description?: string | null
  readonly version?: string
  /** The names of the tools it may use. Default: the default set. */
  readonly mcpToolPermissions?: readonly string[] | null
}

/** The character of an agent. */
export interface Persona {
  readonly archetype?: string
  readonly traits?: string | readonly string[]
  readonly background?: string
}

/** What a card says about its agent. */
export interface CardDescription {
  readonly name?: string
  readonly description?: string
  readonly version?: string
}

/** Skills, or tools by name, that are assigned to agents together. */
export interface SkillBundle {
  readonly skills?: readonly AgentSkill[]
  readonly tools?: readonly string[]
}

/** Lookups for building cards; each method is optional. */
export interface CardDatabase {
  listTools?(): readonly RegisteredTool[]
  getPersona?(agentId: string): Persona | string | null | undefined
  getAgentBundles?(agentId: string): readonly SkillBundle[]
}

/**
 * Builds the card of this instance, with every registered tool as a skill. `baseUrl` defaults to the address from `BIND_HOST`
 * (127.0.0.1) and `PORT` (3000). The default of the name is `Parley`, of the version `1.0.0`.
 *
 * @example
 * ```ts
 * const card = buildAgentCard('https://agent.example.com', { listTools: () => tools }, { name: 'Ada', version: '2.0.0' })
 * ```
 */
export function buildAgentCard(
  baseUrl?: string,
  db: CardDatabase = {},
  { name, description = '', version }: CardDescription = {},
): A2AAgentCard {
  const about =
    name === undefined && description === ''
      ? { name: 'Parley', description: 'An agent that accepts simple tasks' }
      : { name: name ?? 'Parley', description }
  return cardOf({ ...about, ...(version !== undefined ? { version } : {}) }, skillsOf(db.listTools?.() ?? []), baseUrl)
}

/**
 * Builds the card of one agent: the tools that `mcpToolPermissions` permits as skills, with the persona and the skill bundles
 * from `db`.
 *
 * @example
 * ```ts
 * const card = buildAgentCardForAgent({ id: 'a1', name: 'Ada' }, 'https://agent.example.com', db)
 * ```
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
    supportedInterfaces: [simpleTasksInterface(baseUrl.replace(/\/+$/, ''))],
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: skills.length > 0 ? skills : [{ id: 'default', name, description: about, tags: ['general'] }],
  }
  return flatCard(card)
}
