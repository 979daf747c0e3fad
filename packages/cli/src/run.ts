/** Runs one command line: arguments in, exit code out. Loads only the module of the command that runs. */
import { neutralize } from '@parley/a2a/command-line'
import { configOption, readConfigFiles, type ConfigFile } from './args/config-files.ts'
import { globalOptions, isRefusedInProject, variableOf } from './args/global-options.ts'
import type { ParsedArgs } from './args/option.ts'
import { hasGiven, parseCommandLine, requireCommand, type CommandLine } from './args/parse-args.ts'
import { resolveSettings } from './args/resolve-settings.ts'
import type { Settings } from './args/settings.ts'
import { wantsJson, type ErrorFormat } from './args/output-format.ts'
import type { Command, CommandContext } from './command.ts'
import { commands, program } from './commands/index.ts'
import { createOutput, type Output } from './output/output.ts'
import { createRedactor, type Redactor } from './output/redact.ts'
import { createStopSignal, Interrupted, isAbort } from './stop-signal.ts'
import type { Terminal } from './terminal.ts'
import { programVersion } from './version.ts'

const exitAfterInterrupt = 130
/** As if the system had ended the program because the reader of its output has gone: 128 + SIGPIPE. */
const exitAfterBrokenPipe = 141

/** Runs `a2a` with these arguments, without the name of the program. Returns the exit code. */
export async function runA2a(args: readonly string[], terminal: Terminal): Promise<number> {
  const redactor = createRedactor()
  const json = wantsJson(args, terminal)
  try {
    const line = parseCommandLine(args, program)
    if (wantsVersion(line)) return await printText(terminal, programVersion())
    const { command, words } = line
    // Before the settings are read: a wrong one must not prevent the help that explains it.
    if (hasGiven(line.args, 'help') || args.length === 0 || command?.name === 'help') {
      const { run } = await import('./commands/help.ts')
      const operands = command?.name === 'help' ? line.args.operands : words
      await run({ terminal, commands, args: { options: line.args.options, operands } })
      return 0
    }
    return await runCommand(requireCommand(line, program, operandHint), line.args, { terminal, redactor })
  } catch (reason) {
    if (isBrokenPipe(reason)) return exitAfterBrokenPipe
    if (reason instanceof Interrupted) return exitAfterInterrupt
    return printError(reason, { terminal, redactor, json, showsStack: args.includes('--debug') })
  }
}

interface RunDeps {
  readonly terminal: Terminal
  readonly redactor: Redactor
}

async function runCommand(command: Command, args: ParsedArgs, { terminal, redactor }: RunDeps): Promise<number> {
  const files = readConfigFiles(terminal, configOption(args, terminal.environment))
  const options = [...command.options, ...globalOptions]
  const settings = resolveSettings({ options, command: command.name, args, environment: terminal.environment, files })
  registerSecrets(
    options.filter(({ isSecret }) => isSecret === true).map(({ name }) => name),
    settings,
    redactor,
  )
  const output = createOutput({
    terminal,
    redactor,
    format: settings.value('output') === 'json' ? 'json' : 'text',
    isInteractive: terminal.isOutputTerminal && settings.sourceOf('output').kind === 'default',
    isStream: settings.has('stream'),
    isVerbose: settings.has('verbose'),
    isDebug: settings.has('debug'),
  })
  if (command.usesAgent !== false) reportFileSettings(settings, files, output)
  const { run } = await command.load()
  const stop = createStopSignal(settings, terminal)
  const context: CommandContext = {
    terminal: stop.terminal,
    args,
    settings,
    output,
    commands,
    signal: stop.signal,
    async connect() {
      const { connectAgent } = await import('./agent/connect.ts')
      return connectAgent({ terminal, settings, output, signal: stop.signal })
    },
  }
  try {
    return (await run(context)) ?? 0
  } catch (reason) {
    // What a library throws after an abort, such as an AbortError, stands for the reason of the abort.
    if (stop.signal.aborted && isAbort(reason)) throw stop.signal.reason
    const { withVersionHint } = await import('./output/version-hint.ts')
    throw withVersionHint(reason, settings.value('a2a-version'))
  } finally {
    stop.dispose()
  }
}

function wantsVersion({ command, words, args }: CommandLine<Command>): boolean {
  // `-v` alone asks for the version; with a command it means verbose.
  return hasGiven(args, 'version') || (command === undefined && words.length === 0 && hasGiven(args, 'verbose'))
}

/** The two frequent reasons for a superfluous operand: the agent without `-a`, and a text without quotes. */
function operandHint({ name }: Command, operands: readonly string[]): string | undefined {
  const agent = operands.find((operand) => /^(https?:\/\/|(localhost|[\w.-]+:\d+)(:\d+)?(\/|$))\S*$/.test(operand))
  if (agent !== undefined) return `Name the agent with -a: \`a2a ${name} -a ${agent}\``
  return name === 'send' || name === 'chat' ? 'Put the text in quotes.' : undefined
}

function registerSecrets(names: readonly string[], settings: Settings, redactor: Redactor): void {
  for (const name of names)
    for (const value of settings.values(name)) {
      if (name !== 'svc-param') redactor.add(value)
      else {
        const secret = value.slice(value.search(/[:=]/) + 1).trim()
        // A short value is a word such as `true`, which must stay readable elsewhere.
        if (secret.length >= 8) redactor.add(secret, false)
      }
    }
}

/** Settings by which a file of an unknown project could send the user's messages or credentials elsewhere. */
const sensitiveSettings = ['agent-card', 'endpoint', 'catalog', 'bearer', 'api-key', 'client-cert']

function reportFileSettings(settings: Settings, files: readonly ConfigFile[], output: Output): void {
  for (const { path, kind, values, isReadableByOthers } of files) {
    const used = settings.all.filter(({ source }) => source.kind === 'file' && source.path === path)
    const sensitive = used.map(({ name }) => name).filter((name) => sensitiveSettings.includes(name))
    if (kind === 'nearest' && sensitive.length > 0) output.note(`Using ${sensitive.join(', ')} of ${path}`)
    const refused = globalOptions.filter((option) => isRefusedInProject(option.name) && values.has(variableOf(option)))
    if (kind === 'nearest' && refused.length > 0)
      output.note(
        `Ignoring ${refused.map(({ name }) => name).join(', ')} of ${path}: pass --config ${path} to use them`,
      )
    if (isReadableByOthers && used.some(({ name }) => ['bearer', 'api-key', 'client-secret'].includes(name)))
      output.warn(`other users can read the credentials in ${path}: run chmod 600 ${path}`)
  }
}

async function printText(terminal: Terminal, text: string): Promise<number> {
  await terminal.write(`${text}\n`)
  return 0
}

function isBrokenPipe(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'EPIPE'
}

/** With `-o json` the error replaces the result on stdout, on one line with `--stream`; otherwise labels on stderr. */
async function printError(
  reason: unknown,
  { terminal, redactor, json, showsStack }: RunDeps & { readonly json: ErrorFormat; readonly showsStack: boolean },
): Promise<number> {
  const { errorEnvelope, errorText, reportError } = await import('./output/error-envelope.ts')
  const full = reportError(reason, { hasCredential: redactor.hasSecrets })
  const safe = (text: string): string => neutralize(redactor.apply(withProgram(text, terminal.program)))
  const report = {
    ...full,
    message: safe(full.message),
    hint: full.hint === null ? null : safe(full.hint),
    a2aCode: typeof full.a2aCode === 'string' ? safe(full.a2aCode) : full.a2aCode,
  }
  if (showsStack && reason instanceof Error) terminal.writeError(`${safe(reason.stack ?? reason.message)}\n`)
  if (json === false) terminal.writeError(`${errorText(report)}\n`)
  else {
    const envelope = errorEnvelope(report)
    try {
      await terminal.write(`${json === 'line' ? JSON.stringify(envelope) : JSON.stringify(envelope, null, 2)}\n`)
    } catch (failure) {
      if (!isBrokenPipe(failure)) throw failure
      return exitAfterBrokenPipe
    }
  }
  return report.exitCode
}

/** Commands in messages begin with `a2a`; the user may have started it by another name. */
function withProgram(text: string, program: string): string {
  return program === 'a2a' ? text : text.replaceAll(/(`|Usage: )a2a\b/g, `$1${program}`)
}
