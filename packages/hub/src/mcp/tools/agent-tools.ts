/** The tools that list agents and describe what they can do. */
import type { AgentSkill } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import { z } from 'zod'
import { type McpToolResult, defineTool, type McpServerTool } from './tool.ts'
import type { AgentProfile } from '../directory/agent-directory.ts'
import { findAgent, agentRefOf } from './find-agent.ts'

const text = z.string('must be a string').min(1, 'is empty')

const skillView = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  examples: z.array(z.string()).optional(),
})
const listedAgent = z.object({
  name: z.string().optional(),
  title: z.string(),
  description: z.string(),
  url: z.string(),
  available: z.boolean(),
  skills: z.array(skillView),
})
const agentList = z.object({
  agents: z.array(listedAgent),
  more: z.int().optional().describe('The number of omitted agents: narrow the list with query.'),
})
const agentView = listedAgent.extend({
  version: z.string(),
  inputModes: z.array(z.string()).optional().describe('Accepted media types. Absent: any.'),
  outputModes: z.array(z.string()).optional(),
  provider: z.string().optional(),
  documentationUrl: z.string().optional(),
})

/** More agents than a model should read. */
const maxListed = 100
/** A model reads cards, and their authors may be untrusted. */
const maxTextLength = 4_000

const readOnlyHints = { readOnlyHint: true, idempotentHint: true } as const

export const listAgents: McpServerTool = defineTool({
  name: 'list_agents',
  title: 'List the agents',
  description: 'Lists the agents and their skills. Call one of them with send_message.',
  input: z.strictObject({
    query: text.optional().describe('Only agents whose name, description, skills or tags contain these words.'),
  }),
  output: agentList,
  annotations: { ...readOnlyHints, openWorldHint: false },
  async run({ query }, { directory, signal }): Promise<McpToolResult> {
    const all = (await directory.agents(signal)).filter(
      (profile) => query === undefined || matchesQuery(profile, query),
    )
    const agents = all.slice(0, maxListed).map(listedAgentOf)
    const more = all.length - agents.length
    const lines = agents.map(lineOf)
    if (agents.length === 0) lines.push(query === undefined ? 'There are no agents.' : 'No agent matches.')
    if (more > 0) lines.push(`And ${more} more: narrow the list with query.`)
    return {
      content: [{ type: 'text', text: lines.join('\n') }],
      structuredContent: { agents, ...(more > 0 ? { more } : {}) },
    }
  },
})

export const discoverAgent: McpServerTool = defineTool({
  name: 'discover_agent',
  title: 'Look at an agent',
  description: 'Describes an agent and its skills: by its name from list_agents, or any other by its URL.',
  input: z.strictObject({
    agent: text.optional().describe('Its name from list_agents.'),
    url: text.optional().describe('Its URL, or that of its card.'),
  }),
  output: agentView,
  annotations: { ...readOnlyHints, openWorldHint: true },
  async run(named, call): Promise<McpToolResult> {
    const { profile } = await findAgent(agentRefOf(named), call)
    const { version, inputModes, outputModes, provider, documentationUrl } = profile
    const view: z.output<typeof agentView> = {
      ...listedAgentOf(profile),
      version,
      ...(inputModes.length > 0 ? { inputModes: [...inputModes] } : {}),
      ...(outputModes.length > 0 ? { outputModes: [...outputModes] } : {}),
      ...omitUndefined({ provider, documentationUrl }),
    }
    return { content: [{ type: 'text', text: JSON.stringify(view, null, 2) }], structuredContent: view }
  },
})

function listedAgentOf(profile: AgentProfile): z.output<typeof listedAgent> {
  const { name, title, description, url, isAvailable, skills } = profile
  return {
    ...omitUndefined({ name }),
    title: truncate(title),
    description: truncate(description),
    url,
    available: isAvailable,
    skills: skills.map(viewOfSkill),
  }
}

function viewOfSkill({ id, name, description, tags, examples = [] }: AgentSkill): z.output<typeof skillView> {
  return {
    id,
    name: truncate(name),
    description: truncate(description),
    tags: [...tags],
    ...(examples.length > 0 ? { examples: examples.map(truncate) } : {}),
  }
}

function lineOf({ name, title, description, available, skills }: z.output<typeof listedAgent>): string {
  const can = skills.map((skill) => `\n    ${skill.id}: ${skill.description}`).join('')
  return `- ${name ?? title}: ${description}${available ? '' : ' (not available now)'}${can}`
}

/** Every word must match some field. */
function matchesQuery({ name = '', title, description, skills }: AgentProfile, query: string): boolean {
  const known = [name, title, description, ...skills.flatMap((one) => [one.id, one.name, one.description, ...one.tags])]
  const all = known.join('\n').toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}

function truncate(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`
}
