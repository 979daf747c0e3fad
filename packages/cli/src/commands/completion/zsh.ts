/** The completion script for zsh, with descriptions. */
import { optionsWithValue, type CompletionOption, type CompletionTable } from './completion-table.ts'

export function zshScript(table: CompletionTable): string {
  const valued = optionsWithValue(table)
  const words = [...table.words].map(
    ([typed, next]) => `    '${typed}') next=(${next.map(({ word, about }) => entry(word, about)).join(' ')}) ;;`,
  )
  const options = [...table.options].map(
    ([name, own]) => `    '${name}'|'${name} '*) options=(${own.flatMap(optionEntries).join(' ')}) ;;`,
  )
  return `#compdef a2a
_a2a() {
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
${valued.map(valueLine).join('\n')}
    esac
  fi
  case "$typed" in
${words.join('\n')}
  esac
  case "$typed" in
${options.join('\n')}
  esac
  options+=(${table.globalOptions.flatMap(optionEntries).join(' ')})
  if [[ $PREFIX == -* ]]; then _describe -o 'option' options; else _describe 'command' next; fi
}
if [[ $funcstack[1] == _a2a ]]; then _a2a "$@"; else compdef _a2a a2a; fi`
}

function optionEntries({ spellings, about }: CompletionOption): readonly string[] {
  return spellings.filter((one) => one.startsWith('--')).map((one) => entry(one, about))
}

/** A word and its description, for `_describe`. */
function entry(word: string, about: string): string {
  return `'${about === '' ? word : `${word}:${about.replaceAll("'", "'\\''")}`}'`
}

function valueLine({ spellings, value }: CompletionOption): string {
  const pattern = `      ${spellings.join('|')})`
  if (value?.kind === 'values') return `${pattern} compadd -- ${value.values.join(' ')}; return ;;`
  if (value?.kind === 'files') return `${pattern} _files; return ;;`
  return value?.kind === 'folders' ? `${pattern} _files -/; return ;;` : `${pattern} return ;;`
}
