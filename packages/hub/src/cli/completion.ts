/** `parley completion <shell>`: a script that completes commands and options. Generated from the list of commands. */
import { usageError, type Command } from './command.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export function createCompletionCommand(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    takes: '<bash | zsh | fish>',
    summary: 'Prints a completion script for a shell.',
    details: [
      'bash: parley completion bash >> ~/.bashrc',
      'zsh:  parley completion zsh > "${fpath[1]}/_parley"',
      'fish: parley completion fish > ~/.config/fish/completions/parley.fish',
    ],
    flags: {},
    async run(flags, terminal) {
      const [shell] = flags.positionals
      const known = shells.find((one) => one === shell)
      if (known === undefined) throw usageError(`Name a shell: ${shells.join(', ')}.`)
      const words = completions(commands())
      terminal.printData({ bash: bashScript, zsh: zshScript, fish: fishScript }[known](words))
      return 0
    },
  }
}

/** What may follow the words typed so far, by these words: `key` → `create list revoke`. */
type Completions = readonly (readonly [typed: string, next: readonly string[]])[]

export function completions(commands: readonly Command[]): Completions {
  const next = new Map<string, Set<string>>()
  const add = (typed: string, word: string): void =>
    void next.set(typed, (next.get(typed) ?? new Set<string>()).add(word))
  for (const { name, flags } of commands) {
    const words = name.split(' ')
    for (const [index, word] of words.entries()) add(words.slice(0, index).join(' '), word)
    for (const flag of Object.keys(flags)) add(name, `--${flag}`)
    add(name, '--help')
    add('help', words[0] ?? '')
  }
  for (const shell of shells) add('completion', shell)
  add('', 'a2a')
  add('', 'help')
  add('', '--version')
  return [...next].map(([typed, words]) => [typed, [...words]])
}

/** The words before the cursor that are not options select what may follow. */
function bashScript(words: Completions): string {
  return `_parley() {
  local typed="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) typed="\${typed:+$typed }$word" ;; esac
  done
${caseLines(words, '  ')}
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _parley parley`
}

function zshScript(words: Completions): string {
  return `#compdef parley
_parley() {
  local typed="" word next
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) typed="\${typed:+$typed }$word" ;; esac
  done
${caseLines(words, '  ')}
  compadd -- \${=next}
}
compdef _parley parley`
}

/** Both shells share this part: an argument of a command keeps the options of the command. */
function caseLines(words: Completions, indent: string): string {
  const cases = words
    .toSorted(([a], [b]) => b.length - a.length)
    .map(([typed, next]) => `${indent}  "${typed}"${typed === '' ? '' : `|"${typed} "*`}) next="${next.join(' ')}" ;;`)
  return [`${indent}case "$typed" in`, ...cases, `${indent}  *) next="" ;;`, `${indent}esac`].join('\n')
}

function fishScript(words: Completions): string {
  const groups = new Set(words.map(([typed]) => typed.split(' ').slice(0, -1).join(' ')))
  const lines = words.flatMap(([typed, next]) => {
    const condition = groups.has(typed) ? `__parley_typed '${typed}'` : `__parley_typed '${typed}' '${typed} *'`
    return next.map((word) => `complete -c parley -f -n "${condition}" -a '${word}'`)
  })
  return `function __parley_typed
  set -l words (string join ' ' -- (string match -v -- '-*' (commandline -opc)[2..]))
  for pattern in $argv
    string match -q -- $pattern "$words"; and return 0
  end
  return 1
end
${lines.join('\n')}`
}
