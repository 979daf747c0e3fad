/** docs/reference/cli.md: every command of `parley` with its options, from the list of commands. */
import { exitCodes, type Command } from '../../packages/hub/src/cli/command.ts'
import { code, generatedNotice, page, table, text, type Row } from './markdown.ts'

/** What the page needs of a command. */
export type DocumentedCommand = Omit<Command, 'load'>

const exitTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  failure: 'The command failed, or a check found a problem.',
  usage: 'Unknown command or option, or a missing argument.',
  unreachable: 'The hub does not respond.',
  unauthorized: 'The hub rejects the admin key, or there is none.',
  timeout: 'The hub did not respond within `--timeout`.',
}

export function cliPage(commands: readonly DocumentedCommand[]): string {
  return page(
    '# Command line reference',
    generatedNotice,
    'The commands of `parley`. Run them with `npx @parley/hub`: `npx @parley/hub key list` is `parley key list`. ' +
      'Without a command, `parley` runs `parley up`. `parley help <command>` prints the help of a command, `parley --version` the version. `parley a2a` runs [the command `a2a`](a2a-command.md).',
    table(
      ['Command', 'Description'],
      commands.map((command) => [`[parley ${command.name}](#${anchorOf(command)})`, text(command.summary)]),
    ),
    ...commands.map(commandText),
    '## Exit codes',
    table(
      ['Code', 'Meaning'],
      [
        ['0', 'Success.'],
        ...(Object.keys(exitCodes) as (keyof typeof exitCodes)[]).map((name) => [
          String(exitCodes[name]),
          text(exitTexts[name]),
        ]),
      ],
    ),
  )
}

function commandText(command: DocumentedCommand): string {
  const { name, operands, summary, details = [], options } = command
  const rows = options.map((option): Row => {
    const { short, takes, repeatable } = option
    const repeats = repeatable === true && !/repeatable/i.test(option.summary) ? ' Repeatable.' : ''
    return [
      code(`${short === undefined ? '' : `-${short}, `}--${option.name}${takes === undefined ? '' : ` ${takes}`}`),
      `${text(option.summary)}${repeats}`,
    ]
  })
  const line = `parley ${name}${operands === undefined ? '' : ` ${operands}`}${rows.length > 0 ? ' [options]' : ''}`
  return page(
    `## parley ${name}`,
    text(summary),
    ['```sh', line, '```'].join('\n'),
    ...details.map(text),
    table(['Option', 'Description'], rows),
  )
}

function anchorOf({ name }: DocumentedCommand): string {
  return `parley-${name.replaceAll(' ', '-')}`
}
