/**
 * Reads a command line: which command, and its options and operands in their order. An own parser, because the meaning of `--text`,
 * `--file` and `--media-type` depends on their order across options, which `util.parseArgs` loses.
 */
import type { Command } from '../command.ts'
import { usageError } from '../output/cli-error.ts'
import { globalOptions } from './global-options.ts'
import { nearestName } from '@parley/a2a/command-line'
import type { GivenOption, OptionSpec, ParsedArgs } from './option.ts'

export interface CommandLine {
  /** `undefined` if the line names no complete command: see `words`. */
  readonly command: Command | undefined
  /** The words of the command: `task`, `get`. */
  readonly words: readonly string[]
  readonly args: ParsedArgs
}

/** Throws a usage error. Options may precede the command: `a2a -o json send hi`. */
export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): CommandLine {
  const words: string[] = []
  const operands: string[] = []
  const given: GivenOption[] = []
  let command: Command | undefined

  for (let index = 0; index < argv.length; index += 1) {
    const token = argv[index] ?? ''
    if (token === '--') {
      operands.push(...argv.slice(index + 1))
      break
    }
    if (!token.startsWith('-') || token === '-') {
      if (command !== undefined) operands.push(token)
      else {
        words.push(token)
        command = commandOf(words, commands)
      }
      continue
    }
    const options = command === undefined ? globalOptions : [...command.options, ...globalOptions]
    const read = readOption(token, argv[index + 1], options, command)
    given.push(...read.given)
    if (read.usedNext) index += 1
  }
  return { command, words, args: { options: given, operands } }
}

/** Whether the option is on the command line, for decisions before the command is known. */
export function hasGiven({ options }: ParsedArgs, name: string): boolean {
  return options.some((option) => option.name === name && option.value !== 'false')
}

/** The command of these words, `undefined` if words are missing. Throws for words that begin no command. */
function commandOf(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const typed = words.join(' ')
  const found = commands.find(({ name, aliases = [] }) => name === typed || aliases.includes(typed))
  if (found !== undefined || commands.some(({ name }) => name.startsWith(`${typed} `))) return found
  const group = words.slice(0, -1).join(' ')
  const start = group === '' ? '' : `${group} `
  const known = commands
    .flatMap(({ name, aliases = [] }) => [name, ...aliases])
    .filter((name) => name.startsWith(start))
    .map((name) => name.slice(start.length).split(' ')[0] ?? '')
  // `list` for `task list`.
  const ofGroup = commands.map(({ name }) => name).filter((name) => name.split(' ').slice(1).join(' ') === typed)
  if (ofGroup.length > 0)
    throw usageError(
      `Unknown command "${typed}".`,
      `Did you mean ${ofGroup.map((name) => `\`a2a ${name}\``).join(' or ')}?`,
    )
  const nearest = nearestName(words.at(-1) ?? '', known)
  throw usageError(
    `Unknown command "${typed}".`,
    nearest === undefined
      ? `See \`a2a help${group === '' ? '' : ` ${group}`}\`.`
      : `Did you mean \`a2a ${start}${nearest}\`?`,
  )
}

interface ReadOption {
  readonly given: readonly GivenOption[]
  readonly usedNext: boolean
}

function readOption(
  token: string,
  next: string | undefined,
  options: readonly OptionSpec[],
  command: Command | undefined,
): ReadOption {
  if (!token.startsWith('--')) return readShortOptions(token, next, options, command)
  const equals = token.indexOf('=')
  const name = equals < 0 ? token.slice(2) : token.slice(2, equals)
  const option = options.find((one) => one.name === name || one.aliases?.includes(name))
  if (option === undefined) throw unknownOption(`--${name}`, options, command)
  if (equals >= 0) return { given: [givenOption(option, token.slice(equals + 1))], usedNext: false }
  return withNext(option, token, next, options)
}

/** `-o json`, `-ojson`, `-o=json`, and switches together: `-vh`. */
function readShortOptions(
  token: string,
  next: string | undefined,
  options: readonly OptionSpec[],
  command: Command | undefined,
): ReadOption {
  const given: GivenOption[] = []
  for (let at = 1; at < token.length; at += 1) {
    const letter = token[at] ?? ''
    const option = options.find(({ short }) => short === letter)
    if (option === undefined) throw unknownOption(/^-\d/.test(token) ? token : `-${letter}`, options, command)
    const rest = token.slice(at + 1)
    if (option.takes === undefined) {
      given.push(givenOption(option, undefined))
      continue
    }
    if (rest !== '') return { given: [...given, givenOption(option, rest.replace(/^=/, ''))], usedNext: false }
    const last = withNext(option, `-${letter}`, next, options)
    return { given: [...given, ...last.given], usedNext: last.usedNext }
  }
  return { given, usedNext: false }
}

function withNext(
  option: OptionSpec,
  token: string,
  next: string | undefined,
  options: readonly OptionSpec[],
): ReadOption {
  if (option.takes === undefined) return { given: [givenOption(option, undefined)], usedNext: false }
  const isOptional = option.takes.startsWith('[')
  if (isOptional && (next === undefined || next.startsWith('-')))
    return { given: [givenOption(option, '')], usedNext: false }
  if (next === undefined) throw usageError(`${token} needs a value: ${token} ${option.takes}`)
  // Any other text may be a value, also one that begins with a dash: `--data -`, `--text -1`.
  if (options.some(({ name, aliases = [] }) => [name, ...aliases].some((one) => next === `--${one}`)))
    throw usageError(
      `${token} needs a value, found the option ${next}.`,
      `To pass it as the value: --${option.name}=${next}`,
    )
  return { given: [givenOption(option, next)], usedNext: true }
}

function givenOption(option: OptionSpec, value: string | undefined): GivenOption {
  if (option.takes === undefined && value !== undefined && !['true', 'false'].includes(value))
    throw usageError(`--${option.name} takes no value, or =true or =false.`)
  return { name: option.name, value }
}

function unknownOption(token: string, options: readonly OptionSpec[], command: Command | undefined): Error {
  const nearest = token.startsWith('--')
    ? nearestName(
        token.slice(2),
        options.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
      )
    : undefined
  const help = command === undefined ? 'a2a help' : `a2a help ${command.name}`
  const suggestion =
    token === '--json'
      ? 'Did you mean -o json? '
      : nearest !== undefined
        ? `Did you mean --${nearest}? `
        : command !== undefined && command.operandCount[1] > 0 && !token.startsWith('--')
          ? `If it is not an option, put -- before it: \`a2a ${command.name} -- ${token}\`. `
          : ''
  return usageError(
    `Unknown option ${token}${command === undefined ? '' : ` of \`a2a ${command.name}\``}.`,
    `${suggestion}See \`${help}\`.`,
  )
}
