/** `a2a skill install`: writes the Agent Skill to where coding agents look for skills. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { CommandContext } from '../command.ts'
import { usageError } from '../output/cli-error.ts'
import { fileErrorText } from '../output/file-error.ts'
import { field } from '../output/text.ts'
import { skillFiles } from '../skill-files.ts'
import { saveFile } from './task/save-file.ts'

interface SkillFile {
  readonly path: string
  readonly text: string
  readonly status: 'written' | 'unchanged' | 'changed'
}

export async function run(context: CommandContext): Promise<void> {
  const { settings, output, terminal } = context
  const folder = join(skillsFolder(context), 'a2a')
  const files = await Promise.all([...skillFiles()].map(([name, text]) => compare(join(folder, name), text)))
  const changed = files.find(({ status }) => status === 'changed')
  // Nothing is written if one file would be lost.
  if (changed !== undefined && !settings.has('force'))
    throw usageError(
      `${changed.path} was changed, or is of another version.`,
      'Use --force to replace it, or another --dir.',
    )
  for (const { path, text, status } of files)
    if (status !== 'unchanged') await saveFile(path, Buffer.from(text), status === 'changed')
  const results = files.map(({ path, status }) => ({ path, status: status === 'unchanged' ? status : 'written' }))
  if (output.format === 'json') await output.document({ files: results })
  else
    await output.text(
      results.map(({ path, status }) => field(status === 'written' ? 'Wrote' : 'Unchanged', shown(path))).join(''),
    )
  const claude = join(scopeOf(context), '.claude')
  if (settings.sourceOf('dir').kind === 'default' && existsSync(claude))
    output.note(`Claude Code reads another folder: ${terminal.program} skill install --dir ${join(claude, 'skills')}`)

  function shown(path: string): string {
    const short = relative(terminal.cwd, path)
    return short.startsWith('..') ? path : short
  }
}

async function compare(path: string, text: string): Promise<SkillFile> {
  const existing = await readFile(path, 'utf8').catch((reason: NodeJS.ErrnoException) => {
    if (reason.code === 'ENOENT') return undefined
    throw usageError(`${path} cannot be read: ${fileErrorText(reason)}.`)
  })
  return { path, text, status: existing === undefined ? 'written' : existing === text ? 'unchanged' : 'changed' }
}

function skillsFolder(context: CommandContext): string {
  const { settings, terminal } = context
  const isNamed = settings.sourceOf('dir').kind === 'flag'
  if (isNamed && settings.has('global')) throw usageError('--dir and --global exclude each other.')
  return isNamed ? resolve(terminal.cwd, settings.value('dir') ?? '') : join(scopeOf(context), '.agents/skills')
}

/** The folder whose coding agents get the skill: the project, or the user's home. */
function scopeOf({ settings, terminal }: CommandContext): string {
  if (!settings.has('global')) return terminal.cwd
  if (terminal.home === undefined) throw usageError('The user has no home folder.', 'Use --dir.')
  return terminal.home
}
