/** The Agent Skill for coding agents. The bundle has a copy beside itself; the sources use the one of the repository. */
import { readFileSync } from 'node:fs'

const folder = import.meta.url.endsWith('.ts') ? '../../../.agents/skills/a2a' : './skills/a2a'

/** Its files, by their path in the folder of the skill. */
export function skillFiles(): ReadonlyMap<string, string> {
  const names = ['SKILL.md', 'references/examples.md']
  return new Map(names.map((name) => [name, readFileSync(new URL(`${folder}/${name}`, import.meta.url), 'utf8')]))
}
