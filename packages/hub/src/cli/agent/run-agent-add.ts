/** What `parley agent add` does. Loaded when it runs: it needs the configuration and all agent kinds. */
import { validateAgentName } from '@parley/a2a/server'
import { agentNameFrom, uniqueAgentName } from '../../agents/detect/detect.ts'
import type { Detect, DetectedAgent, DetectTarget } from '../../agents/detect/detect.ts'
import type { AgentKind } from '../../agents/kind.ts'
import { checkConfig, configBaseDir } from '../../config/check-config.ts'
import { withScheme } from '../../config/values.ts'
import type { AgentEntry } from '../../config/edit-agent-entry.ts'
import { loadKinds, openConfigSource, openSecretCache, problemLines } from '../cli-settings.ts'
import { CliError, usageError, type Flags, type Terminal } from '../command.ts'
import { printResult } from '../output.ts'
import { programEnvironment } from '../program-environment.ts'
import { hubOutcome, reportOutcome } from './hub-outcome.ts'
import { addAgentEntry } from './write-agent-entry.ts'

const detectTimeoutMs = 60_000

export async function runAgentAdd(detect: Detect, flags: Flags, terminal: Terminal): Promise<number> {
  const [first, ...rest] = flags.positionals
  if (first === undefined) throw usageError('Missing argument: a URL, or a command with its arguments.')
  const target: DetectTarget = [first, ...rest]
  const source = await openConfigSource(flags, terminal, openSecretCache(flags, terminal))
  const kind = flags.value('kind')
  const found =
    kind === undefined
      ? await detect(target, {
          fetch: globalThis.fetch,
          signal: AbortSignal.timeout(detectTimeoutMs),
          onProgress: (line) => terminal.printError(line),
          cwd: configBaseDir(source.file),
          env: programEnvironment(terminal.environment),
          ...tokenOf(flags.value('token-env'), terminal.environment),
        })
      : entryOfKind(kind, target)
  if ('reasons' in found) {
    const { diagnosis, reasons } = found
    const cause = diagnosis.cause === undefined ? '' : ` (${diagnosis.cause})`
    terminal.printError(`${diagnosis.title}${cause}.`)
    const lacksToken = diagnosis.code === 'unauthenticated' && !flags.has('token-env')
    terminal.printError(
      lacksToken ? 'Set its token in an environment variable, and name that with --token-env NAME.' : diagnosis.advice,
    )
    const others = reasons.filter((reason) => diagnosis.cause === undefined || !reason.endsWith(`: ${diagnosis.cause}`))
    if (others.length > 0) terminal.printError('Tried:')
    for (const reason of others) terminal.printError(`  ${reason}`)
    terminal.printError('To add it anyway, choose its kind with --kind.')
    return 1
  }
  const { kind: addedKind, notes = [] } = found
  const entry = { kind: addedKind, ...found.entry }
  const kinds = await loadKinds()
  const name = await addAgentEntry(source, entry, (names) => {
    const chosen = flags.value('name') ?? uniqueAgentName(found.name, names)
    requireValidEntry(chosen, entry, kinds)
    return chosen
  })
  const { file } = source
  const hub = await hubOutcome(flags, terminal, file, name)
  printResult(flags, terminal, { name, file, entry, notes, hub }, () => [
    `Added ${name} (${addedKind}) to ${file}.`,
    ...notes,
  ])
  return reportOutcome(flags, terminal, hub)
}

function tokenOf(name: string | undefined, environment: Readonly<Record<string, string | undefined>>) {
  if (name === undefined) return {}
  const value = environment[name]
  if (value === undefined) throw new CliError(`${name} is not set in the environment.`)
  return { token: { value, reference: `\${env:${name}}` } }
}

function entryOfKind(kind: string, [target, ...rest]: DetectTarget): DetectedAgent {
  const first = rest.length === 0 ? withScheme(target) : target
  const isUrl = /^(https?|wss?):\/\//.test(first)
  const entry = kind === 'module' ? { path: first } : isUrl ? { url: first } : { command: [first, ...rest] }
  const name = agentNameFrom(isUrl ? new URL(first).hostname : first.replace(/\.[a-z]+$/i, ''), kind)
  return { kind, name, entry: kind === 'openai' ? { baseUrl: first } : entry }
}

/** Checked before writing: a valid file stays valid. */
function requireValidEntry(name: string, entry: AgentEntry, kinds: readonly AgentKind[]): void {
  const problem = validateAgentName(name)
  if (problem !== undefined) throw new CliError(`Invalid agent name ${name}: ${problem}. Choose another with --name.`)
  const checked = checkConfig({ agents: { [name]: entry } }, { kinds, baseDir: '.' })
  if ('problems' in checked) throw new CliError(problemLines(checked.problems, undefined).join('\n'))
}
