/** `a2a skill show`: the SKILL.md as it is, in every format. */
import type { CommandContext } from '../command.ts'
import { skillFiles } from '../skill-files.ts'

export async function run({ terminal }: CommandContext): Promise<void> {
  await terminal.write(skillFiles().get('SKILL.md') ?? '')
}
