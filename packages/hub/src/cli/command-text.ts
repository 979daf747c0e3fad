/** Spells a command of `parley` for people to copy, with the flags without which it would reach another hub or store. */
import type { Flags, Terminal } from './command.ts'

/** The variable that replaces a flag: another terminal does not have it. */
const variables: Readonly<Record<string, string>> = { config: 'PARLEY_CONFIG', data: 'PARLEY_DATA' }

/** Of a command that finds the hub that runs by the record in its data directory. */
export const dataFlags = ['config', 'data'] as const
/** Of a command that asks the hub which this command names. */
export const hubNameFlags = [...dataFlags, 'host', 'port', 'url'] as const
/** Of a command that opens the store. */
export const storeNameFlags = [...dataFlags, 'store'] as const

export function commandText(
  flags: Flags,
  { environment }: Pick<Terminal, 'environment'>,
  name: string,
  carried: readonly string[] = hubNameFlags,
): string {
  const options = carried.flatMap((flag) => {
    const value = flags.value(flag) ?? environment[variables[flag] ?? '']
    // The address of a database has its password, and the output may be a log.
    const shown = flag === 'store' && value?.startsWith('postgres') === true ? '<url>' : value
    return shown === undefined || shown === '' ? [] : [`--${flag} ${shown === '<url>' ? shown : quoted(shown)}`]
  })
  return [programName(environment), name, ...options].join(' ')
}

/**
 * How a person runs this program in another terminal, whose path has no `parley` if npm runs it here: in a clone
 * (scripts/caller-folder.mjs sets PARLEY_COMMAND), by npx, or by a script of a project.
 */
export function programName(environment: Terminal['environment']): string {
  // By the name of its package: npx may take the name of the program for a package of others.
  const isByNpm = environment['npm_lifecycle_event'] !== undefined
  return environment['PARLEY_COMMAND'] ?? (isByNpm ? 'npx @parley/hub' : 'parley')
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
