/** A tool for each skill of each agent, for clients whose models choose better among what is on the table. */
import type { AgentSkill } from '@parley/a2a'
import { z } from 'zod'
import type { AgentProfile } from './desk.ts'
import { saying, say } from './message-tools.ts'
import { outcomeView } from './outcome.ts'
import { defineTool } from './tool.ts'
import type { Tool } from './tool.ts'

/** As long as the strictest clients take. */
const longestName = 64
const longestDescription = 2_000

/** In the same order each time, so that names stay what they are. */
export function skillTools(profiles: readonly AgentProfile[], taken: Iterable<string>): readonly Tool[] {
  const names = new Set(taken)
  return profiles.flatMap((profile) => {
    // An agent that lists no skills is one.
    const skills: readonly (AgentSkill | undefined)[] = profile.skills.length > 0 ? profile.skills : [undefined]
    return skills.map((skill) => {
      const tool = skillTool(profile, skill, names)
      names.add(tool.listed.name)
      return tool
    })
  })
}

function skillTool(
  { name: agent = '', title, description }: AgentProfile,
  skill: AgentSkill | undefined,
  taken: ReadonlySet<string>,
): Tool {
  const examples = (skill?.examples ?? []).map((example) => `For example: ${example}`)
  const about = [...(skill === undefined ? [] : [skill.description]), ...examples]
  return defineTool({
    name: freeName(skill === undefined ? agent : `${agent}_${skill.id}`, taken),
    title: skill === undefined ? title : `${title}: ${skill.name}`,
    description: [...about, `Done by the agent ${title}. ${description}`].join('\n').slice(0, longestDescription),
    input: z.strictObject(saying),
    output: outcomeView,
    annotations: { readOnlyHint: false, openWorldHint: true },
    takesTasks: true,
    skill: skill?.id,
    run: (said, call) => say({ agent }, { ...said, skill: skill?.id }, call),
  })
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  const name = wanted.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, longestName)
  if (!taken.has(name)) return name
  for (let count = 2; ; count += 1) {
    const other = `${name.slice(0, longestName - 1 - String(count).length)}_${count}`
    if (!taken.has(other)) return other
  }
}
