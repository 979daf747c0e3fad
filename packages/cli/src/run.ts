/** Runs one command line: arguments in, exit code out. Loads only the module of the command that runs. */
import { readConfigFiles, type ConfigFile } from './args/config-files.ts'
import { globalOptions } from './args/global-options.ts'
import type { ParsedArgs } from './args/option.ts'
import { hasGiven, parseCommandLine, type CommandLine } from './args/parse-args.ts'
import { resolveSettings } from './args/resolve-settings.ts'
import type { Settings } from './args/settings.ts'
import { wantsJson } from './args/output-format.ts'
import type { Command, CommandContext } from './command.ts'
import { commands } from './commands/index.ts'
import { CliError, usageError } from './output/cli-error.ts'
import { createOutput, type Output } from './output/output.ts'
import { createRedactor, type Redactor } from './output/redact.ts'
import type { Terminal } from './terminal.ts'
import { programVersion } from './version.ts'

/** The reason of the signal after Ctrl-C. */
class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

const exitAfterInterrupt = 130
/** As if the system had ended the program because the reader of its output has gone: 128 + SIGPIPE. */
const exitAfterBrokenPipe = 141

/** Runs `a2a` with these arguments, without the name of the program. Returns the exit code. */
export async function runA2a(args: readonly string[], terminal: Terminal): Promise<number> {
  const redactor = createRedactor()
  const json = wantsJson(args, terminal)
  try {
    const line = parseCommandLine(args, commands)
    if (wantsVersion(line)) return await printText(terminal, programVersion())
    if (hasGiven(line.args, 'help') || args.length === 0) {
      const { helpText } = await import('./commands/help.ts')
      return await printText(terminal, helpText(commands, line.words, terminal.program))
    }
    const { command, words } = line
    if (command === undefined) throw incompleteCommand(words)
    checkOperands(command, line.args)
    return await runCommand(command, line.args, { terminal, redactor })
  } catch (reason) {
    if (isBrokenPipe(reason)) return exitAfterBrokenPipe
    if (reason instanceof Interrupted) return exitAfterInterrupt
    return await printError(reason, { terminal, redactor, json })
  }
}

interface RunDeps {
  readonly terminal: Terminal
  readonly redactor: Redactor
}

async function runCommand(command: Command, args: ParsedArgs, { terminal, redactor }: RunDeps): Promise<number> {
  const files = readConfigFiles(terminal, configOption(args, terminal))
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
    format: outputFormat(settings),
    isStream: settings.has('stream'),
    isVerbose: settings.has('verbose'),
    isDebug: settings.has('debug'),
  })
  if (command.usesAgent !== false) reportFileSettings(settings, files, output)
  const { run } = await command.load()
  const stop = stopSignal(settings, terminal)
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
    throw stop.signal.aborted && isAbort(reason) ? stop.signal.reason : reason
  } finally {
    stop.dispose()
  }
}

function wantsVersion({ command, words, args }: CommandLine): boolean {
  // `-v` alone asks for the version; with a command it means verbose.
  return hasGiven(args, 'version') || (command === undefined && words.length === 0 && hasGiven(args, 'verbose'))
}

function incompleteCommand(words: readonly string[]): CliError {
  const group = words.join(' ')
  if (group === '') return usageError('Missing command.', 'See `a2a help`.')
  const names = commands.map(({ name }) => name).filter((name) => name.startsWith(`${group} `))
  return usageError(
    `Missing subcommand of \`a2a ${group}\`.`,
    `Use ${names.map((name) => `\`a2a ${name}\``).join(', ')}.`,
  )
}

function checkOperands({ name, operands = '', operandCount: [least, most] }: Command, args: ParsedArgs): void {
  const usage = `Usage: a2a ${name}${operands === '' ? '' : ` ${operands}`} [options]`
  const count = args.operands.length
  if (count < least) throw usageError(`\`a2a ${name}\` needs ${operands}.`, usage)
  if (count > most) throw usageError(`\`a2a ${name}\` does not take "${args.operands[most] ?? ''}".`, usage)
}

/** The file of `--config` or `A2ACLI_CONFIG`; no file may name another. */
function configOption(args: ParsedArgs, { environment }: Terminal): string | undefined {
  return args.options.findLast(({ name }) => name === 'config')?.value ?? (environment['A2ACLI_CONFIG'] || undefined)
}

function outputFormat(settings: Settings): 'text' | 'json' {
  const format = settings.value('output')
  if (format === 'text' || format === 'json') return format
  throw usageError(
    `-o ${format ?? ''}: the formats are text and json.`,
    format === 'jsonl' || format === 'ndjson' ? 'For one object per line: -o json --stream' : undefined,
  )
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
const sensitiveSettings = [
  'agent-card',
  'endpoint',
  'catalog',
  'bearer',
  'api-key',
  'insecure',
  'ca-cert',
  'client-cert',
]

function reportFileSettings(settings: Settings, files: readonly ConfigFile[], output: Output): void {
  for (const { path, kind, isReadableByOthers } of files) {
    const used = settings.all.filter(({ source }) => source.kind === 'file' && source.path === path)
    const sensitive = used.map(({ name }) => name).filter((name) => sensitiveSettings.includes(name))
    if (kind === 'nearest' && sensitive.length > 0) output.note(`Using ${sensitive.join(', ')} of ${path}`)
    if (isReadableByOthers && used.some(({ name }) => ['bearer', 'api-key', 'client-secret'].includes(name)))
      output.warn(`other users can read the credentials in ${path}: run chmod 600 ${path}`)
  }
}

function isAbort(reason: unknown): boolean {
  return reason instanceof Error && (reason.name === 'AbortError' || ('code' in reason && reason.code === 'ABORT_ERR'))
}

interface StopSignal {
  readonly signal: AbortSignal
  /** The terminal for the command. Once the command listens to Ctrl-C itself, Ctrl-C does not abort the signal. */
  readonly terminal: Terminal
  dispose(): void
}

/** Aborts at the end of an explicit `--timeout` (its default limits single calls only) and at Ctrl-C. */
function stopSignal(settings: Settings, terminal: Terminal): StopSignal {
  const controller = new AbortController()
  const timeoutMs = settings.durationMs('timeout')
  const isExplicit = settings.sourceOf('timeout').kind !== 'default'
  const timer =
    isExplicit && timeoutMs !== undefined
      ? setTimeout(() => {
          const text = settings.value('timeout') ?? ''
          controller.abort(new CliError('A2ACLI_ERR_TIMEOUT', `The command did not end within --timeout ${text}.`))
        }, timeoutMs)
      : undefined
  const stopListening = terminal.onInterrupt(() => {
    if (ownListeners === 0) controller.abort(new Interrupted('interrupted'))
  })
  let ownListeners = 0
  const onInterrupt = (listener: (count: number) => void): (() => void) => {
    ownListeners += 1
    const remove = terminal.onInterrupt(listener)
    return () => {
      ownListeners -= 1
      remove()
    }
  }
  return {
    signal: controller.signal,
    // Inherits, since properties of a terminal may be getters.
    terminal: Object.create(terminal, { onInterrupt: { value: onInterrupt } }) as Terminal,
    dispose() {
      clearTimeout(timer)
      stopListening()
    },
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
  { terminal, redactor, json }: RunDeps & { readonly json: false | 'document' | 'line' },
): Promise<number> {
  const { errorEnvelope, errorText, reportError } = await import('./output/error-envelope.ts')
  const { neutralize } = await import('./output/sanitize.ts')
  const full = reportError(reason, { hasCredential: redactor.hasSecrets })
  const report = { ...full, message: redactor.apply(full.message) }
  if (json === false) terminal.writeError(`${neutralize(errorText(report))}\n`)
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
