/** docs/reference/cli.md: every command of `parley` with its options, from the list of commands. */
import { exitCodes, type Command } from '../../packages/hub/src/cli/command.ts'
import { code, generatedNotice, page, table, text, type Row } from './markdown.ts'

/** What the page needs of a command. */
export type DocumentedCommand = Pick<Command, 'name' | 'takes' | 'summary' | 'details' | 'flags'>

const exitTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  failure: 'The command failed, or a check found a problem.',
  usage: 'Unknown command or option, or a missing argument.',
  unreachable: 'The hub does not respond.',
  unauthorized: 'The hub rejects the admin key, or there is none.',
  timeout: 'The hub did not respond within `--timeout`.',
}

/** Options whose line in `details` covers several at once. */
const sharedOptions: Readonly<Record<string, Omit<OptionLine, 'names'>>> = {
  host: { takes: '<address>', about: 'Overrides `listen.host`.' },
  port: { takes: '<port>', about: 'Overrides `listen.port`.' },
  'grpc-port': { takes: '<port>', about: 'Overrides `listen.grpcPort`.' },
  store: { takes: '<url>', about: 'Overrides `store`.' },
  data: { takes: '<folder>', about: 'The data directory. Default: `.parley` beside the configuration file.' },
}

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
      'Without a command, `parley` runs `parley up`. `parley help <command>` prints the help of a command, `parley --version` the version. `parley a2a` runs [the command `a2a`](a2a-command.md).',
    table(
      ['Command', 'Description'],
      commands.map((command) => [`[parley ${command.name}](#${anchorOf(command)})`, text(command.summary)]),
    ),
    ...commands.map((command) => commandText(command, known)),
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

function commandText(command: DocumentedCommand, known: ReadonlyMap<string, OptionLine>): string {
  const own = new Map(optionLines(command).flatMap((line) => line.names.map((name) => [name, line])))
  const notes = (command.details ?? []).filter((line) => parseOption(line) === undefined)
  const rows = Object.entries(command.flags).map(([name, { type, short, multiple }]): Row => {
    const line = describe(name, own.get(name) ?? known.get(name))
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

function describe(name: string, line: OptionLine | undefined): Omit<OptionLine, 'names'> | undefined {
  return line === undefined || line.names.length > 1 ? (sharedOptions[name] ?? line) : line
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
