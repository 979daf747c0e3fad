/** docs/reference/a2a-command.md: every command of `a2a` with its options, from the table of commands. */
import { globalOptions, isFromEnvironment, variableOf } from '../../packages/cli/src/args/global-options.ts'
import type { OptionSpec } from '../../packages/cli/src/args/option.ts'
import type { Command } from '../../packages/cli/src/command.ts'
import { exitCodeOf, type CliErrorCode } from '../../packages/cli/src/output/cli-error.ts'
import { code, generatedNotice, page, table, text, type Row } from './markdown.ts'

const errorTexts: Readonly<Record<CliErrorCode, string>> = {
  A2ACLI_ERR_USAGE: 'The command line, a variable or a configuration file is wrong.',
  A2ACLI_ERR_CARD_NOT_FOUND: 'There is no card: 404, a missing file, or an unknown reference.',
  A2ACLI_ERR_UNREACHABLE: 'The agent cannot be reached: DNS, connection or TLS; or a gateway answers in its place.',
  A2ACLI_ERR_CREDENTIALS_MISSING: 'The agent requires a credential, and none was given.',
  A2ACLI_ERR_AUTH_FAILED: 'The agent rejected the credential.',
  A2ACLI_ERR_TIMEOUT: '`--timeout` ended before the task. The message names the task.',
  A2ACLI_ERR_CARD_INVALID: 'The card is malformed, or breaks the specification.',
  A2ACLI_ERR_INTERNAL: 'Another failure of the program.',
}

export function a2aCommandPage(commands: readonly Command[]): string {
  return page(
    '# a2a command reference',
    generatedNotice,
    'The commands of `a2a`, which calls A2A agents from a terminal or a script. Install it with `npm install --global @parley/cli`, or ' +
      'run it with `npx @parley/cli`. Where the hub is installed, `parley a2a` is the same program. ' +
      '`a2a help <command>` prints the help of a command.',
    table(
      ['Command', 'Description'],
      commands.map((command) => [`[a2a ${command.name}](#${anchorOf(command)})`, text(command.summary)]),
    ),
    ...commands.map(commandText),
    '## Global options',
    'Every command accepts them. A variable or a line of a configuration file (`A2ACLI_OUTPUT=json`) sets the same option; lists are ' +
      'separated by commas. The first of these sources that has an option decides: the command line, the environment, the nearest `.env` ' +
      'file (searched from the working directory upwards) or the file of `--config`, `~/.config/a2a-cli/.env`, the default. ' +
      '`a2a config show` prints every setting with its source.',
    optionTable(globalOptions, ''),
    '## Errors',
    'With `-o json` an error replaces the result on stdout: `{"error":{"code","message","hint","a2aCode"}}`. Otherwise its fields are lines ' +
      'on stderr. `a2aCode` is the code that the agent sent. Errors of the protocol have the name of the specification as their `code`, such ' +
      'as `TaskNotFoundError`, and exit with 1.',
    table(
      ['Code', 'Exit code', 'Meaning'],
      (Object.keys(exitCodeOf) as CliErrorCode[]).map((name) => [
        code(name),
        String(exitCodeOf[name]),
        text(errorTexts[name]),
      ]),
    ),
    '## Exit codes',
    table(
      ['Code', 'Meaning'],
      [
        ['0', 'The agent answered, whatever the state of the task is: also a task that failed or needs input.'],
        [
          '1',
          'An error of the agent, or another failure. Also a failed check of `a2a conformance`, as `--fail-on` says, and with ' +
            '`--exit-status` a task that failed or was rejected or canceled.',
        ],
        ['2', 'Usage.'],
        ['3', 'No card, or the agent cannot be reached.'],
        ['4', 'A credential is missing or rejected.'],
        ['5', 'Timeout.'],
        ['6', 'Only with `--exit-status`: the task waits for input or a credential.'],
        ['130', 'Ctrl-C.'],
        ['141', 'The reader of the output has gone, such as `head`.'],
      ],
    ),
  )
}

function commandText(command: Command): string {
  const { name, operands, summary, details = [], options, examples, aliases = [] } = command
  return page(
    `## a2a ${name}`,
    text(summary),
    ['```sh', `a2a ${name}${operands === undefined ? '' : ` ${operands}`} [options]`, '```'].join('\n'),
    ...(aliases.length === 0 ? [] : [`Also ${aliases.map((alias) => code(`a2a ${alias}`)).join(', ')}.`]),
    // Lines such as `bash: a2a completion bash` are commands for a shell.
    ...details.map((paragraph) => text(paragraph.replace(/^(\w+):\s+(a2a .*)$/, '$1: `$2`'))),
    optionTable(options, name),
    'Examples:',
    ['```sh', ...examples, '```'].join('\n'),
  )
}

function optionTable(options: readonly OptionSpec[], command: string): string {
  return table(
    ['Option', 'Default', 'Variable', 'Description'],
    options.map((option): Row => {
      const { name, short, takes, aliases = [], values, repeatable, default: fallback } = option
      const isVariable = isFromEnvironment(option, option.environmentCommands?.[0] ?? command)
      const notes = [
        ...(values === undefined ? [] : [`One of ${values.map((value) => `\`${value}\``).join(', ')}.`]),
        ...(repeatable === true ? ['Repeatable.'] : []),
        ...(aliases.length === 0 ? [] : [`Also ${aliases.map((alias) => `\`--${alias}\``).join(', ')}.`]),
        ...(option.environmentCommands === undefined
          ? []
          : [`The variable counts for ${option.environmentCommands.map((one) => `\`${one}\``).join(', ')} only.`]),
      ]
      return [
        code(`${short === undefined ? '' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`),
        fallback === undefined ? '' : text(fallback),
        isVariable ? code(variableOf(option)) : '',
        [text(option.summary), ...notes].join(' '),
      ]
    }),
  )
}

function anchorOf({ name }: Command): string {
  return `a2a-${name.replaceAll(' ', '-')}`
}
