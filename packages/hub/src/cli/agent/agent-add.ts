/** `parley agent add`: detects the agent behind a URL or a command, and writes it into the configuration. */
import { validateAgentName } from '@parley/a2a/internal'
import { detect as detectAgent } from '../../agents/detect/index.ts'
import { agentNameFrom, uniqueAgentName } from '../../agents/detect/detect.ts'
import type { Detect, DetectedAgent, DetectTarget } from '../../agents/detect/detect.ts'
import type { AgentKind } from '../../agents/kind.ts'
import { freeSecretName } from '../../admin/entry-secrets.ts'
import { hubReference } from '../../config/secrets/hub-references.ts'
import { checkConfig, configBaseDir } from '../../config/check-config.ts'
import { withScheme } from '../../config/values.ts'
import type { AgentEntry } from '../../config/edit-agent-entry.ts'
import { loadKinds, openConfigSource, problemLines, secretReader } from '../cli-settings.ts'
import { CliError, type Flags, type Terminal } from '../command.ts'
import { requestAdmin } from '../admin-request.ts'
import { printResult } from '../output.ts'
import { programEnvironment } from '../program-environment.ts'
import { hubOutcome, reportOutcome, type HubOutcome } from './hub-outcome.ts'
import { addAgentEntry, removeAgentEntry } from './write-agent-entry.ts'

const detectTimeoutMs = 60_000

export async function addAgent(flags: Flags, terminal: Terminal, detect: Detect = detectAgent): Promise<number> {
  const [first = '', ...rest] = flags.positionals
  const target: DetectTarget = [first, ...rest]
  const source = await openConfigSource(flags, terminal, secretReader(flags, terminal))
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
  const { kind: addedKind, notes: hints = [] } = found
  const kinds = await loadKinds()
  const { file } = source
  const add = async (entry: AgentEntry) => {
    const name = await addAgentEntry(source, entry, (names) => {
      const chosen = flags.value('name') ?? uniqueAgentName(found.name, names)
      requireValidEntry(chosen, entry, kinds)
      return chosen
    })
    const hub = await hubOutcome(flags, terminal, file, name)
    // The file must stay valid for the hub that runs.
    if (hub.state === 'refused') await removeAgentEntry(source, name)
    return { name, entry, hub, notes: hints }
  }
  const withVariable = await add({ kind: addedKind, ...found.entry })
  const { name, entry, hub, notes } = await keepTokenInHub(withVariable, add, flags, terminal)
  if (hub.state === 'refused') throw new CliError(`${hub.message}\nThe entry was removed again.`)
  printResult(flags, terminal, { name, file, entry, notes, hub }, () => [
    `Added ${name} (${addedKind}) to ${file}.`,
    ...notes,
  ])
  return reportOutcome(flags, terminal, hub)
}

interface AddedAgent {
  readonly name: string
  readonly entry: AgentEntry
  readonly hub: HubOutcome
  readonly notes: readonly string[]
}

/** If the hub refused the entry because its environment has no such variable, adds one that refers to a secret of the hub. */
async function keepTokenInHub(
  refused: AddedAgent,
  add: (entry: AgentEntry) => Promise<AddedAgent>,
  flags: Flags,
  terminal: Terminal,
): Promise<AddedAgent> {
  const variable = flags.value('token-env')
  const { name, entry, hub } = refused
  if (hub.state !== 'refused' || variable === undefined || !hub.message.includes(`${variable} is not set`))
    return refused
  const { secrets } = await requestAdmin<{ readonly secrets: readonly { readonly name: string }[] }>(
    flags,
    terminal,
    'GET',
    '/admin/secrets',
  )
  const secret = freeSecretName(
    `${name}-token`,
    secrets.map((one) => one.name),
  )
  const path = `/admin/secrets/${encodeURIComponent(secret)}`
  await requestAdmin(flags, terminal, 'PUT', path, { value: terminal.environment[variable] })
  const text = JSON.stringify(entry).replaceAll(`\${env:${variable}}`, hubReference(secret))
  const added = await add(JSON.parse(text) as AgentEntry)
  if (added.hub.state === 'refused') await requestAdmin(flags, terminal, 'DELETE', path)
  const note = `The hub keeps its token as the secret ${secret}: ${variable} is not set where it runs.`
  return { ...added, notes: [...added.notes, note] }
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
