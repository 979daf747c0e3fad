/** What `parley agent add` does. Loaded when it runs: it needs the configuration and all agent kinds. */
import { resolve } from 'node:path'
import { validateAgentName } from '@parley/a2a/server'
import { agentNameFrom, uniqueAgentName } from '../../agents/detect/detect.ts'
import type { Detect, DetectedAgent, DetectTarget } from '../../agents/detect/detect.ts'
import type { AgentKind } from '../../agents/kind.ts'
import { checkConfig, configBaseDir } from '../../config/check-config.ts'
import { configFile, loadKinds, problemLines } from '../cli-settings.ts'
import { CliError, usageError, type Flags, type Terminal } from '../command.ts'
import { printResult } from '../output.ts'
import { programEnvironment } from '../program-environment.ts'
import { agentNamesIn, textOfFile, writeAgentEntry } from './write-agent-entry.ts'

const detectTimeoutMs = 60_000

export async function runAgentAdd(detect: Detect, flags: Flags, terminal: Terminal): Promise<number> {
  const [first, ...rest] = flags.positionals
  if (first === undefined) throw usageError('Missing argument: a URL, or a command with its arguments.')
  const target: DetectTarget = [first, ...rest]
  const file = resolve(terminal.cwd, configFile(flags, terminal) ?? 'parley.yaml')
  const kind = flags.value('kind')
  const found =
    kind === undefined
      ? await detect(target, {
          fetch: globalThis.fetch,
          signal: AbortSignal.timeout(detectTimeoutMs),
          onProgress: (line) => terminal.printError(line),
          cwd: configBaseDir(file),
          env: programEnvironment(terminal.environment),
          ...tokenOf(flags.value('token-env'), terminal.environment),
        })
      : entryOfKind(kind, target)
  if ('reasons' in found) {
    const { diagnosis, reasons } = found
    const cause = diagnosis.cause === undefined ? '' : ` (${diagnosis.cause})`
    terminal.printError(`${diagnosis.title}${cause}.`)
    terminal.printError(diagnosis.advice)
    const others = reasons.filter((reason) => diagnosis.cause === undefined || !reason.endsWith(`: ${diagnosis.cause}`))
    if (others.length > 0) terminal.printError('Tried:')
    for (const reason of others) terminal.printError(`  ${reason}`)
    terminal.printError('To add it anyway, choose its kind with --kind.')
    return 1
  }
  const name = flags.value('name') ?? uniqueAgentName(found.name, agentNamesIn(textOfFile(file)))
  requireValidEntry(name, found, await loadKinds())
  writeAgentEntry(file, name, found)
  const { kind: addedKind, entry, notes = [] } = found
  printResult(flags, terminal, { name, file, entry: { kind: addedKind, ...entry }, notes }, () => [
    `Added ${name} (${addedKind}) to ${file}.`,
    ...notes,
  ])
  return 0
}

function tokenOf(name: string | undefined, environment: Readonly<Record<string, string | undefined>>) {
  if (name === undefined) return {}
  const value = environment[name]
  if (value === undefined) throw new CliError(`${name} is not set in the environment.`)
  return { token: { value, reference: `\${env:${name}}` } }
}

function entryOfKind(kind: string, [first, ...rest]: DetectTarget): DetectedAgent {
  const isUrl = /^(https?|wss?):\/\//.test(first)
  const entry = kind === 'module' ? { path: first } : isUrl ? { url: first } : { command: [first, ...rest] }
  const name = agentNameFrom(isUrl ? new URL(first).hostname : first.replace(/\.[a-z]+$/i, ''), kind)
  return { kind, name, entry: kind === 'openai' ? { baseUrl: first } : entry }
}

/** Checked before writing: a valid file stays valid. */
function requireValidEntry(name: string, { kind, entry }: DetectedAgent, kinds: readonly AgentKind[]): void {
  const problem = validateAgentName(name)
  if (problem !== undefined) throw new CliError(`Invalid agent name ${name}: ${problem}. Choose another with --name.`)
  const checked = checkConfig({ agents: { [name]: { kind, ...entry } } }, { kinds, baseDir: '.' })
  if ('problems' in checked) throw new CliError(problemLines(checked.problems, undefined).join('\n'))
}
