/** `a2a config show`: each setting, its value and its source. */
import { readConfigFiles } from '../args/config-files.ts'
import { globalOptions, isFromEnvironment } from '../args/global-options.ts'
import type { OptionSpec } from '../args/option.ts'
import { resolveSettings } from '../args/resolve-settings.ts'
import type { Setting, SettingSource } from '../args/settings.ts'
import type { Command, CommandContext } from '../command.ts'
import { createRedactor, redactedText } from '../output/redact.ts'
import { neutralize } from '@parley/a2a/command-line'

export async function run({ args, commands, output, settings, terminal }: CommandContext): Promise<void> {
  const options = configurableOptions(commands)
  const resolved = resolveSettings({
    options: options.map(({ environmentCommands: _, ...option }) => ({ ...option, fromEnvironment: true })),
    command: 'config show',
    args,
    environment: terminal.environment,
    files: readConfigFiles(terminal, settings.value('config')),
  })
  const rows = resolved.all.map((setting, index) => describeSetting(setting, options[index]))
  if (output.format === 'json') await output.document({ settings: rows })
  else
    await output.text(
      rows.map(({ name, value, source }) => `${name}: ${neutralize(value ?? '-')} (${source})`).join('\n'),
    )
}

/** The options that the environment and files can set, of all commands. */
function configurableOptions(commands: readonly Command[]): readonly OptionSpec[] {
  const own = commands.flatMap(({ name, options }) => options.filter((option) => isFromEnvironment(option, name)))
  const all = [...globalOptions.filter(({ fromEnvironment }) => fromEnvironment !== false), ...own]
  return [...new Map(all.map((option) => [option.name, option])).values()]
}

interface SettingRow {
  readonly name: string
  readonly value: string | null
  readonly source: string
}

function describeSetting({ name, values, source }: Setting, option: OptionSpec | undefined): SettingRow {
  // A URL may contain a password, and metadata a key.
  const shown = values.map((value) => (option?.isSecret === true ? redactedText : createRedactor().apply(value)))
  const value = shown.length === 0 ? (option?.default ?? null) : shown.join(',')
  return { name, value, source: sourceText(source) }
}

/** `flag`, `env A2ACLI_OUTPUT`, `file /home/ada/.config/a2a-cli/.env` or `default`. */
function sourceText(source: SettingSource): string {
  if (source.kind === 'environment') return `env ${source.variable}`
  return source.kind === 'file' ? `file ${source.path}` : source.kind
}
