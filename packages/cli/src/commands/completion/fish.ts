/** The completion script for fish, with descriptions. */
import { optionsWithValue, type CompletionOption, type CompletionTable } from './completion-table.ts'

export function fishScript(table: CompletionTable): string {
  const valued = optionsWithValue(table).flatMap(({ spellings }) => spellings)
  const words = [...table.words].flatMap(([typed, next]) =>
    next.map(({ word, about }) => line(`__a2a_at '${typed}'`, `-a '${word}'`, about)),
  )
  const options = [...table.options].flatMap(([name, own]) =>
    own.map((option) => line(`__a2a_at '${name}' '${name} *'`, optionFlags(option), option.about)),
  )
  const global = table.globalOptions.map((option) => line(undefined, optionFlags(option), option.about))
  return `function __a2a_words
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
function __a2a_at
  set -l typed (__a2a_words)
  for pattern in $argv
    string match -q -- $pattern "$typed"; and return 0
  end
  return 1
end
complete -c a2a -f
${[...words, ...options, ...global].join('\n')}`
}

function line(condition: string | undefined, flags: string, about: string): string {
  const when = condition === undefined ? '' : ` -n "${condition}"`
  const description = about === '' ? '' : ` -d '${about.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  return `complete -c a2a${when} ${flags}${description}`
}

function optionFlags({ spellings, value }: CompletionOption): string {
  const names = spellings.map((one) => (one.startsWith('--') ? `-l ${one.slice(2)}` : `-s ${one.slice(1)}`)).join(' ')
  if (value === undefined) return names
  if (value.kind === 'values') return `${names} -xa '${value.values.join(' ')}'`
  if (value.kind === 'files') return `${names} -rF`
  return value.kind === 'folders' ? `${names} -xa '(__fish_complete_directories)'` : `${names} -x`
}
