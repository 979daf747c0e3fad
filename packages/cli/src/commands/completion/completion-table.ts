/** What a completion script knows: the words after each command, its options, and what their values can be. */
import { versionIds } from '@parley/a2a/internal'
import { globalOptions } from '../../args/global-options.ts'
import type { OptionSpec } from '../../args/option.ts'
import type { Command } from '../../command.ts'

export interface CompletionWord {
  readonly word: string
  readonly about: string
}

/** What completes the value of an option. */
export type ValueCompletion =
  | { readonly kind: 'values'; readonly values: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' }
  | { readonly kind: 'none' }

export interface CompletionOption {
  /** With dashes: `--output`, `-o`. */
  readonly spellings: readonly string[]
  readonly about: string
  /** `undefined` for a switch. */
  readonly value: ValueCompletion | undefined
}

export interface CompletionTable {
  /** By the words typed so far: `task` → `get`, `list`. Operands with known values are words too. */
  readonly words: ReadonlyMap<string, readonly CompletionWord[]>
  /** By the name of the command, without the global options. */
  readonly options: ReadonlyMap<string, readonly CompletionOption[]>
  readonly globalOptions: readonly CompletionOption[]
}

export function completionTable(commands: readonly Command[]): CompletionTable {
  const words = new Map<string, CompletionWord[]>()
  const add = (typed: string, word: string, about: string): void => {
    const known = words.get(typed) ?? []
    if (!known.some((one) => one.word === word)) words.set(typed, [...known, { word, about }])
  }
  for (const { name, aliases = [], summary, operandValues = [] } of commands) {
    const path = name.split(' ')
    for (const [index, word] of path.entries()) {
      const before = path.slice(0, index)
      const about = index === path.length - 1 ? summary : `Commands of ${path.slice(0, index + 1).join(' ')}`
      add(before.join(' '), word, about)
      add(['help', ...before].join(' '), word, about)
    }
    for (const alias of aliases) add('', alias, summary)
    for (const value of operandValues) add(name, value, '')
  }
  const named = commands.flatMap(({ name, aliases = [], options }) =>
    [name, ...aliases].map((typed) => [typed, options.map(completionOption)] as const),
  )
  return { words, options: new Map(named), globalOptions: globalOptions.map(completionOption) }
}

/** Every option with a value, of all commands: the word after it is no word of the command. */
export function optionsWithValue({ options, globalOptions }: CompletionTable): readonly CompletionOption[] {
  const all = [...globalOptions, ...[...options.values()].flat()].filter(({ value }) => value !== undefined)
  return [...new Map(all.map((option) => [option.spellings.join(), option])).values()]
}

function completionOption(option: OptionSpec): CompletionOption {
  const { name, short, aliases = [], summary } = option
  const long = [name, ...aliases].map((one) => `--${one}`)
  const spellings = short === undefined ? long : [`-${short}`, ...long]
  // The first sentence.
  return { spellings, about: summary.replace(/\.( .*)?$/s, ''), value: valueCompletion(option) }
}

function valueCompletion({ takes, values }: OptionSpec): ValueCompletion | undefined {
  if (takes === undefined) return undefined
  if (values !== undefined) return { kind: 'values', values }
  if (takes === '<version>') return { kind: 'values', values: versionIds }
  if (/<(file|path|ref)\b/.test(takes)) return { kind: 'files' }
  return { kind: takes === '<folder>' ? 'folders' : 'none' }
}
