/** The completion script for bash, from 3.2 (macOS) on. */
import { optionsWithValue, type CompletionOption, type CompletionTable } from './completion-table.ts'

export function bashScript(table: CompletionTable): string {
  const valued = optionsWithValue(table)
  const words = [...table.words].map(([typed, next]) => {
    return caseLine(
      typed,
      next.map(({ word }) => word),
    )
  })
  const options = [...table.options].map(([name, own]) => caseLine(name, spellings(own), `${name} *`))
  return `# bash completion of a2a
_a2a_values() {
  case "$1" in
${valued.map(valueLine).join('\n')}
    *) return 1 ;;
  esac
}
_a2a() {
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
  if ((skip)) && _a2a_values "$previous"; then return; fi
  case "$typed" in
${words.join('\n')}
  esac
  case "$typed" in
${options.join('\n')}
  esac
  if [[ $current == -* ]]; then next="$options ${spellings(table.globalOptions).join(' ')}"; fi
  COMPREPLY=($(compgen -W "$next" -- "$current"))
}
complete -F _a2a a2a`
}

function caseLine(typed: string, words: readonly string[], more?: string): string {
  const pattern = more === undefined ? `"${typed}"` : `"${typed}"|"${more.slice(0, -1)}"*`
  return `    ${pattern}) ${more === undefined ? 'next' : 'options'}="${words.join(' ')}" ;;`
}

/** A name that a person types: the long ones. */
function spellings(options: readonly CompletionOption[]): readonly string[] {
  return options.flatMap((option) => option.spellings.filter((one) => one.startsWith('--')))
}

function valueLine({ spellings: all, value }: CompletionOption): string {
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
