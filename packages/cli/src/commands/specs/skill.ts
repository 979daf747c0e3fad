/** The commands of `a2a skill`. */
import type { Command } from '../../command.ts'

const skillInstall: Command = {
  name: 'skill install',
  summary: 'Installs the Agent Skill that teaches coding agents to use this program.',
  details: [
    'Writes SKILL.md and its examples to .agents/skills/a2a in the working folder. Files that are the same already stay, and a changed file is replaced only with --force.',
    'Claude Code reads .claude/skills: name that folder with --dir.',
  ],
  options: [
    { name: 'global', summary: 'Installs it for all projects of the user: ~/.agents/skills/a2a.' },
    { name: 'dir', takes: '<folder>', default: '.agents/skills', summary: 'The folder of skills to install it in.' },
    { name: 'force', summary: 'Replaces files that were changed, or that are of another version.' },
  ],
  globalOptions: ['output'],
  examples: ['a2a skill install', 'a2a skill install --dir .claude/skills', 'a2a skill install --global'],
  usesAgent: false,
  load: () => import('../skill-install.ts'),
}

const skillShow: Command = {
  name: 'skill show',
  summary: 'Prints the SKILL.md of the Agent Skill.',
  options: [],
  globalOptions: [],
  examples: ['a2a skill show'],
  usesAgent: false,
  load: () => import('../skill-show.ts'),
}

export const skillCommands: readonly Command[] = [skillInstall, skillShow]
