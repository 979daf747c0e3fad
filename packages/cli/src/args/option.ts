/** The description of one option, from which parsing, help, completion and the reference page are made. */
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
