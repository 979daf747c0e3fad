/**
 * The scripts that complete commands, options and their values in bash, zsh and fish: made from the table of commands, for `a2a` and for
 * `parley`.
 */
import type { CommandSpec, OptionSpec, ProgramSpec } from './args/option.ts'

/** The shells that completion supports. */
export const shells = ['bash', 'zsh', 'fish'] as const

type CompletedProgram = Pick<ProgramSpec<CommandSpec>, 'program' | 'commands' | 'globalOptions'>

export function completionScript(shell: (typeof shells)[number], program: CompletedProgram): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program.program, completionTable(program))
}

interface CompletionWord {
  readonly word: string
  readonly about: string
}

/** What completes the value of an option. */
type ValueCompletion =
  | { readonly kind: 'values'; readonly values: readonly string[] }
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' }
  | { readonly kind: 'none' }

interface CompletionOption {
  /** With dashes: `--output`, `-o`. */
  readonly spellings: readonly string[]
  readonly about: string
  /** `undefined` for a switch. */
  readonly value: ValueCompletion | undefined
}

interface CompletionTable {
  /** By the words typed so far: `task` → `get`, `list`. Operands with known values are words too. */
  readonly words: ReadonlyMap<string, readonly CompletionWord[]>
  /** By the name of the command, without the global options. */
  readonly options: ReadonlyMap<string, readonly CompletionOption[]>
  readonly globalOptions: readonly CompletionOption[]
}

function completionTable({ commands, globalOptions }: CompletedProgram): CompletionTable {
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
function optionsWithValue({ options, globalOptions }: CompletionTable): readonly CompletionOption[] {
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
  if (/<(file|path|ref)\b/.test(takes)) return { kind: 'files' }
  return { kind: /<(folder|dir)\b/.test(takes) ? 'folders' : 'none' }
}

// bash, from 3.2 (macOS) on.

function bashScript(program: string, table: CompletionTable): string {
  const valued = optionsWithValue(table)
  const words = [...table.words].map(([typed, next]) => {
    return bashCaseLine(
      typed,
      next.map(({ word }) => word),
    )
  })
  const options = [...table.options].map(([name, own]) => bashCaseLine(name, spellings(own), `${name} *`))
  return `# bash completion of ${program}
_${program}_values() {
  case "$1" in
${valued.map(bashValueLine).join('\n')}
    *) return 1 ;;
  esac
}
_${program}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local typed="" word skip=0 index next="" options=""
  # bash splits --output=json at the equals sign.
  if [[ $current == "=" ]]; then current=""; elif [[ $previous == "=" ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if ((skip)); then [[ $word == "=" ]] || skip=0; continue; fi
    case "$word" in
      =) skip=1 ;;
      ${valued.flatMap(({ spellings: all }) => all).join('|')}) skip=1 ;;
      -?*) ;;
      *) typed="\${typed:+$typed }$word" ;;
    esac
  done
  if ((skip)) && _${program}_values "$previous"; then return; fi
  case "$typed" in
${words.join('\n')}
  esac
  case "$typed" in
${options.join('\n')}
  esac
  if [[ $current == -* ]]; then next="$options ${spellings(table.globalOptions).join(' ')}"; fi
  COMPREPLY=($(compgen -W "$next" -- "$current"))
}
complete -F _${program} ${program}`
}

function bashCaseLine(typed: string, words: readonly string[], more?: string): string {
  const pattern = more === undefined ? `"${typed}"` : `"${typed}"|"${more.slice(0, -1)}"*`
  return `    ${pattern}) ${more === undefined ? 'next' : 'options'}="${words.join(' ')}" ;;`
}

/** A name that a person types: the long ones. */
function spellings(options: readonly CompletionOption[]): readonly string[] {
  return options.flatMap((option) => option.spellings.filter((one) => one.startsWith('--')))
}

function bashValueLine({ spellings: all, value }: CompletionOption): string {
  const pattern = `    ${all.join('|')})`
  if (value?.kind === 'values') {
    return `${pattern} COMPREPLY=($(compgen -W "${value.values.join(' ')}" -- "$current")) ;;`
  }
  if (value?.kind === 'files' || value?.kind === 'folders') {
    const flag = value.kind === 'files' ? '-f' : '-d'
    return `${pattern} compopt -o filenames 2>/dev/null; local IFS=$'\\n'; COMPREPLY=($(compgen ${flag} -- "$current")) ;;`
  }
  return `${pattern} COMPREPLY=() ;;`
}

// zsh, with descriptions.

function zshScript(program: string, table: CompletionTable): string {
  const valued = optionsWithValue(table)
  const words = [...table.words].map(
    ([typed, next]) => `    '${typed}') next=(${next.map(({ word, about }) => zshEntry(word, about)).join(' ')}) ;;`,
  )
  const options = [...table.options].map(
    ([name, own]) => `    '${name}'|'${name} '*) options=(${own.flatMap(zshOptionEntries).join(' ')}) ;;`,
  )
  return `#compdef ${program}
_${program}() {
  local typed="" word previous="\${words[CURRENT-1]}"
  local -a next options
  integer index skip=0
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    if ((skip)); then skip=0; continue; fi
    case "$word" in
      ${valued.flatMap(({ spellings }) => spellings).join('|')}) skip=1 ;;
      -?*) ;;
      *) typed="\${typed:+$typed }$word" ;;
    esac
  done
  if [[ $PREFIX == --*=* ]]; then
    previous="\${PREFIX%%=*}"
    compset -P '*='
    skip=1
  fi
  if ((skip)); then
    case "$previous" in
${valued.map(zshValueLine).join('\n')}
    esac
  fi
  case "$typed" in
${words.join('\n')}
  esac
  case "$typed" in
${options.join('\n')}
  esac
  options+=(${table.globalOptions.flatMap(zshOptionEntries).join(' ')})
  if [[ $PREFIX == -* ]]; then _describe -o 'option' options; else _describe 'command' next; fi
}
if [[ $funcstack[1] == _${program} ]]; then _${program} "$@"; else compdef _${program} ${program}; fi`
}

function zshOptionEntries({ spellings, about }: CompletionOption): readonly string[] {
  return spellings.filter((one) => one.startsWith('--')).map((one) => zshEntry(one, about))
}

/** A word and its description, for `_describe`. */
function zshEntry(word: string, about: string): string {
  return `'${about === '' ? word : `${word}:${about.replaceAll("'", "'\\''")}`}'`
}

function zshValueLine({ spellings, value }: CompletionOption): string {
  const pattern = `      ${spellings.join('|')})`
  if (value?.kind === 'values') return `${pattern} compadd -- ${value.values.join(' ')}; return ;;`
  if (value?.kind === 'files') return `${pattern} _files; return ;;`
  return value?.kind === 'folders' ? `${pattern} _files -/; return ;;` : `${pattern} return ;;`
}

// fish, with descriptions.

function fishScript(program: string, table: CompletionTable): string {
  const valued = optionsWithValue(table).flatMap(({ spellings }) => spellings)
  const words = [...table.words].flatMap(([typed, next]) =>
    next.map(({ word, about }) => fishLine(program, `__${program}_at '${typed}'`, `-a '${word}'`, about)),
  )
  const options = [...table.options].flatMap(([name, own]) =>
    own.map((option) => fishLine(program, `__${program}_at '${name}' '${name} *'`, fishFlags(option), option.about)),
  )
  const global = table.globalOptions.map((option) => fishLine(program, undefined, fishFlags(option), option.about))
  return `function __${program}_words
  set -l words
  set -l skip 0
  for token in (commandline -opc)[2..]
    if test $skip = 1
      set skip 0
      continue
    end
    switch $token
      case ${valued.join(' ')}
        set skip 1
      case '-?*'
      case '*'
        set -a words $token
    end
  end
  string join ' ' -- $words
end
function __${program}_at
  set -l typed (__${program}_words)
  for pattern in $argv
    string match -q -- $pattern "$typed"; and return 0
  end
  return 1
end
complete -c ${program} -f
${[...words, ...options, ...global].join('\n')}`
}

function fishLine(program: string, condition: string | undefined, flags: string, about: string): string {
  const when = condition === undefined ? '' : ` -n "${condition}"`
  const description = about === '' ? '' : ` -d '${about.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  return `complete -c ${program}${when} ${flags}${description}`
}

function fishFlags({ spellings, value }: CompletionOption): string {
  const names = spellings.map((one) => (one.startsWith('--') ? `-l ${one.slice(2)}` : `-s ${one.slice(1)}`)).join(' ')
  if (value === undefined) return names
  if (value.kind === 'values') return `${names} -xa '${value.values.join(' ')}'`
  if (value.kind === 'files') return `${names} -rF`
  return value.kind === 'folders' ? `${names} -xa '(__fish_complete_directories)'` : `${names} -x`
}
