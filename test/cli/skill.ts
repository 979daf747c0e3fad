/** Reads the Agent Skill that the repository ships, for the tests of its rules. */
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** The folders with a SKILL.md, relative to the repository. */
export async function skillFolders(): Promise<readonly string[]> {
  const found: string[] = []
  for await (const file of glob(['.agents/skills/*/SKILL.md', 'packages/*/**/SKILL.md'], {
    cwd: root,
    exclude: (path) => path.includes('node_modules') || path.includes('dist'),
  }))
    found.push(dirname(file))
  return found
}

export interface SkillFile {
  /** The frontmatter: one `name: value` per line. */
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
}

export async function readSkill(): Promise<SkillFile> {
  const text = await readFile(join(root, '.agents/skills/a2a/SKILL.md'), 'utf8')
  const [, head = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? []
  const pairs = head.split('\n').map((line) => {
    const colon = line.indexOf(':')
    return [
      line.slice(0, colon),
      line
        .slice(colon + 1)
        .trim()
        .replace(/^"|"$/g, ''),
    ] as const
  })
  return { fields: Object.fromEntries(pairs), body }
}
