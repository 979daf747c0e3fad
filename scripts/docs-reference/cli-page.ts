/** docs/reference/cli.md: every command of `parley` with its options, from the list of commands. */
import type { Command } from '../../packages/hub/src/cli/command.ts'
import { code, generatedNotice, page, table, text, type Row } from './markdown.ts'

/** What the page needs of a command. */
export type DocumentedCommand = Pick<Command, 'name' | 'takes' | 'summary' | 'details' | 'flags'>

/** A line of `details` about options: `-c, --config <file>   Default: …`. */
interface OptionLine {
  readonly names: readonly string[]
  readonly takes: string
  readonly about: string
}

export function cliPage(commands: readonly DocumentedCommand[]): string {
  // Options that many commands share are described at one of them.
  const known = new Map(
    commands.flatMap((command) => optionLines(command).flatMap((line) => line.names.map((name) => [name, line]))),
  )
  return page(
    '# Command line reference',
    generatedNotice,
    'The commands of `parley`. Run them with `npx @parley/hub`: `npx @parley/hub key list` is `parley key list`. ' +
      'Without a command, `parley` runs `parley up`. `parley help <command>` prints the help of a command, `parley --version` the version.',
    table(
      ['Command', 'Description'],
      commands.map((command) => [`[parley ${command.name}](#${anchorOf(command)})`, text(command.summary)]),
    ),
    ...commands.map((command) => commandText(command, known)),
  )
}

function commandText(command: DocumentedCommand, known: ReadonlyMap<string, OptionLine>): string {
  const own = new Map(optionLines(command).flatMap((line) => line.names.map((name) => [name, line])))
  const notes = (command.details ?? []).filter((line) => parseOption(line) === undefined)
  const rows = Object.entries(command.flags).map(([name, { type, short, multiple }]): Row => {
    const line = own.get(name) ?? known.get(name)
    const takes = type === 'boolean' ? '' : ` ${line?.takes || '<value>'}`
    const repeats = multiple === true && !/repeatable/i.test(line?.about ?? '') ? ' Repeatable.' : ''
    return [
      code(`${short === undefined ? '' : `-${short}, `}--${name}${takes}`),
      `${text(line?.about ?? '')}${repeats}`,
    ]
  })
  return page(
    `## parley ${command.name}`,
    text(command.summary),
    ['```sh', `parley ${usage(command)}${rows.length > 0 ? ' [options]' : ''}`, '```'].join('\n'),
    ...notes.map(text),
    table(['Option', 'Description'], rows),
  )
}

function usage({ name, takes }: DocumentedCommand): string {
  return takes === undefined ? name : `${name} ${takes}`
}

function anchorOf({ name }: DocumentedCommand): string {
  return `parley-${name.replaceAll(' ', '-')}`
}

function optionLines({ details = [] }: DocumentedCommand): readonly OptionLine[] {
  return details.flatMap((line) => parseOption(line) ?? [])
}

/** `undefined` for a line that is not about options. */
function parseOption(line: string): OptionLine | undefined {
  const [, head, about] = /^(-.+?)\s{2,}(.+)$/.exec(line) ?? []
  if (head === undefined || about === undefined) return undefined
  const names = [...head.matchAll(/--([\w-]+)/g)].map(([, name]) => name as string)
  const [, takes = ''] = /--[\w-]+ (.+)$/.exec(head) ?? []
  return { names, takes: names.length === 1 ? takes : '', about }
}
