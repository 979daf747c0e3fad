/** The settings of a run, each from the first source that has it: command line, environment, files, default. */
import { usageError, type CliError } from '../output/cli-error.ts'
import type { ConfigFile } from './config-files.ts'
import { parseDuration } from './duration.ts'
import { isFromEnvironment, isRefusedInProject, variableOf } from './global-options.ts'
import type { OptionSpec, ParsedArgs } from './option.ts'
import type { Setting, Settings, SettingSource } from './settings.ts'
import { parseSize } from './size.ts'

export interface SettingSources {
  /** The options of the command and the global ones. */
  readonly options: readonly OptionSpec[]
  /** The name of the command. */
  readonly command: string
  readonly args: ParsedArgs
  readonly environment: Readonly<Record<string, string | undefined>>
  /** In the order of their precedence. */
  readonly files: readonly ConfigFile[]
}

/** Throws a usage error for a value that the option does not allow. */
export function resolveSettings(sources: SettingSources): Settings {
  const byName = new Map(sources.options.map((option) => [option.name, resolveSetting(option, sources)]))
  const settingOf = (name: string): Setting => {
    const setting = byName.get(name)
    if (setting === undefined) throw new Error(`no option --${name}`)
    return setting
  }
  const value = (name: string): string | undefined => settingOf(name).values.at(-1)
  return {
    value,
    values: (name) => settingOf(name).values,
    has: (name) => value(name) === 'true',
    sourceOf: (name) => settingOf(name).source,
    durationMs(name) {
      const text = value(name)
      return text === undefined ? undefined : parseDuration(text)
    },
    bytes(name) {
      const text = value(name)
      return text === undefined ? undefined : parseSize(text)
    },
    integer(name, min = 0, max = Number.MAX_SAFE_INTEGER) {
      const text = value(name)
      if (text === undefined) return undefined
      const number = Number(text)
      if (!/^-?\d+$/.test(text) || number < min || number > max) {
        const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
        throw usageError(`${spelled(settingOf(name))}: "${text}" is no integer ${range}.`)
      }
      return number
    },
    jsonObject(name) {
      const text = value(name)
      if (text === undefined) return undefined
      const parsed = parseJson(text)
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
        throw usageError(`${spelled(settingOf(name))} must be a JSON object.`)
      return parsed as Record<string, unknown>
    },
    projectFile: sources.files.find(({ kind }) => kind === 'nearest')?.path,
    all: [...byName.values()],
  }
}

function resolveSetting(option: OptionSpec, { command, args, environment, files }: SettingSources): Setting {
  const given = args.options.filter(({ name }) => name === option.name).map(({ value }) => value ?? 'true')
  const setting = (values: readonly string[], source: SettingSource): Setting => {
    const kept = option.repeatable === true ? values : values.slice(-1)
    return checked(option, { name: option.name, values: kept, source })
  }
  if (given.length > 0) return setting(given, { kind: 'flag' })
  if (isFromEnvironment(option, command)) {
    const variable = variableOf(option)
    const fromEnvironment = environment[variable]
    // An empty variable is the usual way to unset one for a single command.
    if (fromEnvironment !== undefined && fromEnvironment !== '')
      return setting(split(option, fromEnvironment), { kind: 'environment', variable })
    for (const { path, kind, values } of files) {
      if (kind === 'nearest' && isRefusedInProject(option.name)) continue
      const fromFile = values.get(variable)
      if (fromFile !== undefined && fromFile !== '') return setting(split(option, fromFile), { kind: 'file', path })
    }
  }
  return { name: option.name, values: defaultValues(option), source: { kind: 'default' } }
}

/** A default such as "the order of the card" describes behavior; only single words are values. */
function defaultValues({ default: text, takes }: OptionSpec): readonly string[] {
  if (takes === undefined) return ['false']
  return text === undefined || text.includes(' ') ? [] : [text]
}

/** Lists are separated by commas in the environment and in files. */
function split({ repeatable }: OptionSpec, text: string): readonly string[] {
  if (repeatable !== true) return [text]
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

const switchWords: Readonly<Record<string, string>> = {
  1: 'true',
  true: 'true',
  yes: 'true',
  on: 'true',
  0: 'false',
  false: 'false',
  no: 'false',
  off: 'false',
}

function checked(option: OptionSpec, setting: Setting): Setting {
  if (option.takes === undefined) {
    const values = setting.values.map((value) => switchWords[value.toLowerCase()])
    if (values.includes(undefined)) throw usageError(`${spelled(setting)} must be true or false.`)
    return { ...setting, values: values as string[] }
  }
  for (const value of setting.values) checkValue(option, setting, value)
  return setting
}

/** Before the first request: a wrong value must not be found in the middle of the work. */
function checkValue({ values, alsoAccepts, takes }: OptionSpec, setting: Setting, value: string): void {
  if (takes === '<duration>' && parseDuration(value) === undefined) throw noDuration(setting, value)
  if (takes === '<size>' && parseSize(value) === undefined)
    throw usageError(`${spelled(setting)}: "${value}" is no size.`, 'Sizes: 500kB, 100MB, 1GB, or bytes.')
  if (values === undefined || values.includes(value) || alsoAccepts?.test(value) === true) return
  const hint = /^(jsonl|ndjson)$/.test(value) ? 'For one object per line: -o json --stream' : undefined
  throw usageError(`${spelled(setting)}: "${value}" is none of ${values.join(', ')}.`, hint)
}

function noDuration(setting: Setting, value: string): CliError {
  return usageError(`${spelled(setting)}: "${value}" is no duration.`, 'Durations: 500ms, 2s, 1m30s, 1h.')
}

/** Where the user wrote it: `--output`, `A2ACLI_OUTPUT`, or the variable with its file. */
export function spelled({ name, source }: Setting): string {
  if (source.kind === 'environment') return source.variable
  if (source.kind === 'file') return `${variableOf({ name, summary: '' })} of ${source.path}`
  return `--${name}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
