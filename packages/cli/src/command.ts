/** A command of `a2a`: what help, completion and the reference page show of it, and the module that runs it, loaded on demand. */
import type { CommandSpec, ParsedArgs } from './args/option.ts'
import type { Settings } from './args/settings.ts'
import type { Output } from './output/output.ts'
import type { AgentConnection } from './agent/connection.ts'
import type { Terminal } from './terminal.ts'

export interface Command extends CommandSpec {
  /** The names of the global options that its help describes. Of the others it shows only the names. */
  readonly globalOptions: readonly string[]
  /** Complete command lines for its help. */
  readonly examples: readonly string[]
  /** Whether it calls an agent. Default true: `help`, `completion` and `config show` need none. */
  readonly usesAgent?: false
  /** Imports its implementation: `a2a --version` and help load none. */
  load(): Promise<CommandModule>
}

export interface CommandModule {
  /** The exit code; 0 if it returns none. Throws a `CliError`, or an `A2AError` of the agent. */
  run(context: CommandContext): Promise<number | void>
}

export interface CommandContext {
  readonly terminal: Terminal
  readonly args: ParsedArgs
  readonly settings: Settings
  readonly output: Output
  /** All commands, for those that describe them: `help` and `completion`. */
  readonly commands: readonly Command[]
  /** Aborted at the end of `--timeout`, and by Ctrl-C unless the command handles it with `terminal.onInterrupt`. */
  readonly signal: AbortSignal
  /** Connects to the agent of `--agent-card` or `--endpoint`. Throws if neither is given. */
  connect(): Promise<AgentConnection>
}
