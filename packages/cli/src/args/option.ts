/** What a command line consists of, as data: parsing, help, completion and the reference pages are made from it. */
export interface OptionSpec {
  /** Its long name without dashes: `poll-interval`. */
  readonly name: string
  /** A single letter: `o`. */
  readonly short?: string
  /** Further long names with the same meaning. They have no environment variable. */
  readonly aliases?: readonly string[]
  /** What follows it, for help: `<duration>`; `[url]` is optional, then the value is empty. Absent: a switch. */
  readonly takes?: string
  readonly repeatable?: true
  readonly summary: string
  /** The built-in default as help shows it: `2s`. */
  readonly default?: string
  /** The allowed values, for completion and the usage error. */
  readonly values?: readonly string[]
  /** Further spellings of the values, which completion does not offer. */
  readonly alsoAccepts?: RegExp
  /** Whether `A2ACLI_<NAME>` and the configuration files may set it. Default true for global options, false for a command's own. */
  readonly fromEnvironment?: boolean
  /** The only commands that take it from the environment or a file: a forgotten `A2ACLI_TASK_ID` must not change others. */
  readonly environmentCommands?: readonly string[]
  /** Whether its value is a secret: redacted in `config show`, `--debug` and errors. */
  readonly isSecret?: true
}

/** A command: everything but its implementation. */
export interface CommandSpec {
  /** `task get` */
  readonly name: string
  /** Further names with the same meaning: `demo-server`. */
  readonly aliases?: readonly string[]
  /** What follows its name: `<task-id>`. */
  readonly operands?: string
  readonly summary: string
  /** Paragraphs for its help. */
  readonly details?: readonly string[]
  /** Its own options. The global ones are accepted by every command. */
  readonly options: readonly OptionSpec[]
  /** How many operands it takes: at least and at most. Default: none. */
  readonly operandCount?: readonly [least: number, most: number]
  /** What helps if one is missing: which command shows the ids. Default: the usage. */
  readonly operandHint?: string
  /** The values that its operands can have, for completion: `bash`, `zsh`. */
  readonly operandValues?: readonly string[]
  /** Whether its operands are the command of another program, whose options stand after `--`. */
  readonly takesCommand?: true
}

/** A program with commands: `a2a`, `parley`. */
export interface ProgramSpec<Command extends CommandSpec> {
  readonly program: string
  readonly commands: readonly Command[]
  /** The options that every command accepts. */
  readonly globalOptions: readonly OptionSpec[]
  /** The error of the program for a wrong command line, with what the user can do. */
  usageError(message: string, hint?: string): Error
}

/** One option as it appeared on the command line. */
export interface GivenOption {
  readonly name: string
  /** `undefined` for a switch. */
  readonly value: string | undefined
}

/** The command line after its command, in order: `--text`, `--file` and `--media-type` depend on their order. */
export interface ParsedArgs {
  readonly options: readonly GivenOption[]
  readonly operands: readonly string[]
}
