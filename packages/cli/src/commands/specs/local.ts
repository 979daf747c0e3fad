/** The commands that need no agent. */
import type { Command } from '../../command.ts'
import { shells } from '../../completion.ts'

const configShow: Command = {
  name: 'config show',
  summary: 'Shows every setting, its value and where it comes from. Secrets are redacted.',
  details: [
    'Precedence: command line, environment, the nearest .env file or --config, ~/.config/a2a-cli/.env, default. The program never writes a configuration file.',
  ],
  options: [],
  globalOptions: ['output', 'config'],
  examples: ['a2a config show', 'a2a config show -o json'],
  usesAgent: false,
  load: () => import('../config-show.ts'),
}

const completion: Command = {
  name: 'completion',
  operands: '<bash | zsh | fish>',
  summary: 'Prints a completion script for a shell.',
  details: [
    'bash: a2a completion bash > ~/.local/share/bash-completion/completions/a2a',
    'zsh:  a2a completion zsh > "${fpath[1]}/_a2a"',
    'fish: a2a completion fish > ~/.config/fish/completions/a2a.fish',
  ],
  options: [],
  globalOptions: [],
  examples: ['source <(a2a completion bash)'],
  operandCount: [1, 1],
  operandValues: shells,
  usesAgent: false,
  load: () => import('../completion.ts'),
}

const help: Command = {
  name: 'help',
  operands: '[command]',
  summary: 'Shows the help of a command.',
  options: [],
  globalOptions: [],
  examples: ['a2a help send', 'a2a help task'],
  operandCount: [0, 3],
  usesAgent: false,
  load: () => import('../help.ts'),
}

export const localCommands: readonly Command[] = [configShow, completion, help]
