/**
 * Reads a command line: which command, and its options and operands in their order. Both `a2a` and `parley` use it. What is wrong is
 * described by the option and the nearest name, so `util.parseArgs` only splits the line into tokens.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { nearestName } from '@parley/a2a/command-line'
import type { CommandSpec, GivenOption, OptionSpec, ParsedArgs, ProgramSpec } from './option.ts'

export interface CommandLine<Command extends CommandSpec> {
  /** `undefined` if the line names no complete command: see `words`. */
  readonly command: Command | undefined
  /** The words of the command: `task`, `get`. */
  readonly words: readonly string[]
  readonly args: ParsedArgs
}

type Tokens = NonNullable<ReturnType<typeof parseArgs<{ strict: false; tokens: true }>>['tokens']>
type OptionToken = Extract<Tokens[number], { kind: 'option' }>

/** Throws a usage error. Options may precede the command: `a2a -o json send hi`. */
export function parseCommandLine<Command extends CommandSpec>(
  argv: readonly string[],
  program: ProgramSpec<Command>,
): CommandLine<Command> {
  const words: string[] = []
  const operands: string[] = []
  const given: GivenOption[] = []
  let command: Command | undefined
  let args = argv
  let options = program.globalOptions
  let tokens = tokensOf(args, options)
  let isAfterDashes = false
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Tokens[number]
    if (token.kind === 'option-terminator') isAfterDashes = true
    else if (token.kind === 'option') {
      const option = optionOf(token, args, options, command, program)
      const next = tokens[at + 1]
      const isOptional = option.takes?.startsWith('[') === true && token.value === undefined
      const operand = next?.kind === 'positional' && next.index === token.index + 1 ? next.value : undefined
      if (isOptional && operand !== undefined) at += 1
      given.push(isOptional ? { name: option.name, value: operand ?? '' } : readOption(option, token, options, program))
    } else if (isAfterDashes || command !== undefined) operands.push(token.value)
    else {
      words.push(token.value)
      command = commandOf(words, program)
      if (command === undefined) continue
      // What follows may be its own options.
      args = args.slice(token.index + 1)
      options = [...command.options, ...program.globalOptions]
      tokens = tokensOf(args, options)
      at = -1
    }
  }
  return { command, words, args: { options: given, operands } }
}

/** Whether the option is on the command line, for decisions before the command is known. */
export function hasGiven({ options }: ParsedArgs, name: string): boolean {
  return options.some((option) => option.name === name && option.value !== 'false')
}

/**
 * The command of a line, which has as many operands as it takes. Throws a usage error; `superfluousHint` may say what a superfluous
 * operand was meant for.
 */
export function requireCommand<Command extends CommandSpec>(
  { command, words, args: { operands } }: CommandLine<Command>,
  { program, commands, usageError }: ProgramSpec<Command>,
  superfluousHint: (command: Command, operands: readonly string[]) => string | undefined = () => undefined,
): Command {
  const group = words.join(' ')
  if (command === undefined) {
    if (group === '') throw usageError('Missing command.', `See \`${program} help\`.`)
    const names = commands.map(({ name }) => name).filter((name) => name.startsWith(`${group} `))
    throw usageError(
      `Missing subcommand of \`${program} ${group}\`.`,
      `Use ${names.map((name) => `\`${program} ${name}\``).join(', ')}.`,
    )
  }
  const { operands: takes = '', operandCount: [least, most] = [0, 0] } = command
  const line = `${program} ${command.name}`
  const usage = `Usage: ${line}${takes === '' ? '' : ` ${takes}`} [options]`
  if (operands.length < least) throw usageError(`\`${line}\` needs ${takes}.`, command.operandHint ?? usage)
  if (operands.length > most)
    throw usageError(
      `\`${line}\` does not take "${operands[most] ?? ''}".`,
      superfluousHint(command, operands) ?? usage,
    )
  return command
}

/** Without `strict`, unknown options are tokens too, and a value may begin with a dash: `--data -`, `--text -1`. */
function tokensOf(args: readonly string[], options: readonly OptionSpec[]): Tokens {
  const types: NonNullable<ParseArgsConfig['options']> = {}
  for (const { name, short, aliases = [], takes } of options) {
    // An optional value is the next operand, which the parser would take even if it were an option.
    const type = takes === undefined || takes.startsWith('[') ? 'boolean' : 'string'
    for (const long of [name, ...aliases]) types[long] = { type }
    if (short !== undefined) types[name] = { type, short }
  }
  return parseArgs({ args: [...args], options: types, strict: false, allowPositionals: true, tokens: true }).tokens
}

/** As other command lines call them. */
const synonyms: Readonly<Record<string, string>> = { rm: 'remove', delete: 'remove', ls: 'list' }

/** The command of these words, `undefined` if words are missing. Throws for words that begin no command. */
function commandOf<Command extends CommandSpec>(
  words: readonly string[],
  { program, commands, usageError }: ProgramSpec<Command>,
): Command | undefined {
  const typed = words.join(' ')
  const named = commands.find(({ name, aliases = [] }) => name === typed || aliases.includes(typed))
  if (named !== undefined || commands.some(({ name }) => name.startsWith(`${typed} `))) return named
  const group = words.slice(0, -1).join(' ')
  const start = group === '' ? '' : `${group} `
  const last = words.at(-1) ?? ''
  const wanted = synonyms[last] ?? last
  const known = commands
    .flatMap(({ name, aliases = [] }) => [name, ...aliases])
    .filter((name) => name.startsWith(start))
    .map((name) => name.slice(start.length).split(' ')[0] ?? '')
  // `list` for `task list`.
  const ofGroups = commands.map(({ name }) => name).filter((name) => name.split(' ').slice(1).join(' ') === wanted)
  const nearest = known.includes(wanted) ? wanted : nearestName(wanted, known)
  const meant = group === '' && ofGroups.length > 0 ? ofGroups : nearest === undefined ? [] : [`${start}${nearest}`]
  throw usageError(
    `Unknown command "${typed}".`,
    meant.length === 0
      ? `See \`${program} help${group === '' ? '' : ` ${group}`}\`.`
      : `Did you mean ${meant.map((name) => `\`${program} ${name}\``).join(' or ')}?`,
  )
}

function optionOf<Command extends CommandSpec>(
  { name, rawName, index }: OptionToken,
  args: readonly string[],
  options: readonly OptionSpec[],
  command: Command | undefined,
  program: ProgramSpec<Command>,
): OptionSpec {
  const option = options.find((one) => one.name === name || one.aliases?.includes(name))
  if (option !== undefined) return option
  const word = args[index] ?? rawName
  throw unknownOption(/^-\d/.test(word) ? word : rawName, options, command, program)
}

function readOption<Command extends CommandSpec>(
  { name, takes }: OptionSpec,
  { rawName, value, inlineValue }: OptionToken,
  options: readonly OptionSpec[],
  { usageError }: ProgramSpec<Command>,
): GivenOption {
  if (takes === undefined) {
    if (value !== undefined && !['true', 'false'].includes(value))
      throw usageError(`--${name} takes no value, or =true or =false.`)
    return { name, value }
  }
  if (value === undefined) throw usageError(`${rawName} needs a value: ${rawName} ${takes}`)
  const isOption = options.some((one) => [one.name, ...(one.aliases ?? [])].some((long) => value === `--${long}`))
  if (!inlineValue && isOption)
    throw usageError(
      `${rawName} needs a value, found the option ${value}.`,
      `To pass it as the value: --${name}=${value}`,
    )
  // `-o=json`
  return { name, value: inlineValue && !rawName.startsWith('--') ? value.replace(/^=/, '') : value }
}

function unknownOption<Command extends CommandSpec>(
  token: string,
  options: readonly OptionSpec[],
  command: Command | undefined,
  { program, usageError }: ProgramSpec<Command>,
): Error {
  const names = options.flatMap(({ name, aliases = [] }) => [name, ...aliases])
  const nearest = token.startsWith('--') ? nearestName(token.slice(2), names) : undefined
  const line = `${program}${command === undefined ? '' : ` ${command.name}`}`
  const suggestion =
    token === '--json' && names.includes('output')
      ? 'Did you mean -o json? '
      : command?.takesCommand === true
        ? `Put a command with its own options after --: \`${line} -- <command…>\`. `
        : nearest !== undefined
          ? `Did you mean --${nearest}? `
          : (command?.operandCount?.[1] ?? 0) > 0 && !token.startsWith('--')
            ? `If it is not an option, put -- before it: \`${line} -- ${token}\`. `
            : ''
  return usageError(
    `Unknown option ${token}${command === undefined ? '' : ` of \`${line}\``}.`,
    `${suggestion}See \`${program} help${command === undefined ? '' : ` ${command.name}`}\`.`,
  )
}
