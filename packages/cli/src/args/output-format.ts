/** Which format errors have. Decided before the command line is parsed, since a line that cannot be parsed is reported in it too. */
import type { Terminal } from '../terminal.ts'
import { readConfigFiles } from './config-files.ts'

/** `line` with `--stream`. */
export type ErrorFormat = false | 'document' | 'line'

export function wantsJson(args: readonly string[], terminal: Terminal): ErrorFormat {
  const before = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  const given = before.flatMap((token, index) => {
    if (token === '-o' || token === '--output') return [before[index + 1] ?? '']
    const [, attached] = /^(?:--output=|-o=?)(.+)$/.exec(token) ?? []
    return attached === undefined ? [] : [attached]
  })
  const format = given.at(-1) ?? configuredFormat(before, terminal)
  if (format !== 'json') return false
  return before.includes('--stream') || before.includes('--stream=true') ? 'line' : 'document'
}

function configuredFormat(args: readonly string[], terminal: Terminal): string | undefined {
  const variable = 'A2ACLI_OUTPUT'
  const fromEnvironment = terminal.environment[variable]
  if (fromEnvironment !== undefined && fromEnvironment !== '') return fromEnvironment
  const [, attached] = /^--config=(.+)$/.exec(args.findLast((token) => token.startsWith('--config=')) ?? '') ?? []
  const named = attached ?? args[args.lastIndexOf('--config') + 1]
  try {
    const files = readConfigFiles(terminal, args.includes('--config') || attached !== undefined ? named : undefined)
    return files.map(({ values }) => values.get(variable)).find((value) => value !== undefined && value !== '')
  } catch {
    // The file of --config is missing: reported as an error, in the default format.
    return undefined
  }
}
