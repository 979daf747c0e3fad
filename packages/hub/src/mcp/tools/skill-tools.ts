/** A tool for each skill of each agent, for clients whose models choose better from a list of tools. */
import type { AgentSkill } from '@parley/a2a'
import { z } from 'zod'
import type { AgentProfile } from '../directory/agent-directory.ts'
import { messageFields, sendToAgent } from './message-tools.ts'
import { taskResultSchema } from './task-result.ts'
import { defineTool, type McpServerTool } from './tool.ts'

/** The limit of the strictest clients. */
const longestName = 64
const longestDescription = 2_000

/** In a fixed order, so that names stay the same. */
export function skillTools(profiles: readonly AgentProfile[], taken: Iterable<string>): readonly McpServerTool[] {
  const names = new Set(taken)
  return profiles.flatMap((profile) => {
    // An agent without skills counts as one skill.
    const skills: readonly (AgentSkill | undefined)[] = profile.skills.length > 0 ? profile.skills : [undefined]
    return skills.map((skill) => {
      const tool = skillTool(profile, skill, names)
      names.add(tool.definition.name)
      return tool
    })
  })
}

function skillTool(
  { name: agent = '', title, description }: AgentProfile,
  skill: AgentSkill | undefined,
  taken: ReadonlySet<string>,
): McpServerTool {
  const examples = (skill?.examples ?? []).map((example) => `For example: ${example}`)
  const about = [...(skill === undefined ? [] : [skill.description]), ...examples]
  return defineTool({
    name: uniqueToolName(skill === undefined ? agent : `${agent}_${skill.id}`, taken),
    title: skill === undefined ? title : `${title}: ${skill.name}`,
    description: [...about, `Done by the agent ${title}. ${description}`].join('\n').slice(0, longestDescription),
    input: z.strictObject(messageFields),
    output: taskResultSchema,
    annotations: { readOnlyHint: false, openWorldHint: true },
    canRunAsTask: true,
    skill: skill?.id,
    run: (said, call) => sendToAgent({ agent }, { ...said, skill: skill?.id }, call),
  })
}

function uniqueToolName(wanted: string, taken: ReadonlySet<string>): string {
  const name = wanted.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, longestName)
  if (!taken.has(name)) return name
  for (let count = 2; ; count += 1) {
    const other = `${name.slice(0, longestName - 1 - String(count).length)}_${count}`
    if (!taken.has(other)) return other
  }
}
