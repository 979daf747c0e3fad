/** Runs the checks of `parley doctor`, each only if what it needs is known. */
import { isLoopbackHost, omitUndefined } from '@parley/a2a/internal'
import { resolve } from 'node:path'
import { checkStoreSection, configBaseDir, validSections } from '../../config/check-config.ts'
import { lacksOnlySecrets, problemLines, readConfig, resolvedDataDirectory, type CliConfig } from '../cli-settings.ts'
import { commandText, dataFlags } from '../command-text.ts'
import { lacksVariable } from '../../config/config-document.ts'
import { formatPath } from '../../config/config-problem.ts'
import type { HubConfig } from '../../config/hub-config.ts'
import type { Flags, Terminal } from '../command.ts'
import { checkAgents } from './agent-checks.ts'
import { checkClock } from './check-clock.ts'
import { failed, ok, warning, type DoctorFinding } from './finding.ts'
import { findHub, checkPorts, type HubState } from './hub-checks.ts'
import { checkDisk, checkStore } from './store-checks.ts'

const minNodeMajor = 24

export async function diagnose(flags: Flags, terminal: Terminal): Promise<readonly DoctorFinding[]> {
  const loaded = await readConfig(flags, terminal)
  const node = checkNode(process.versions.node)
  const known = 'config' in loaded && loaded.unread.length === 0 ? loaded.config : validParts(loaded, flags, terminal)
  const { listen, store: storeSection, dataDir } = known
  const uncalled = 'config' in loaded ? agentsToReveal(loaded) : []
  const hub = await findHub(flags, terminal, known)
  const storeParts = storeSection === undefined ? undefined : { store: storeSection, dataDir }
  const [ports, store, disk, agents] = await Promise.all([
    hub.isRunning || listen === undefined ? [] : checkPorts(listen),
    storeParts === undefined ? undefined : checkStore(storeParts, hub),
    storeParts === undefined ? [] : checkDisk(storeParts),
    checkAgents({ ...known, agents: withoutKeys(known.agents, uncalled) }, hub, terminal.environment['PATH']),
  ])
  const clocks = [...hub.clocks, ...(store?.clocks ?? []), ...agents.clocks]
  return [
    node,
    ...configFindings(loaded, hub, commandText(flags, terminal, 'config check', dataFlags)),
    hub.finding,
    ...ports,
    ...(store?.findings ?? []),
    ...disk,
    ...agents.findings,
    ...(hub.agents === undefined ? uncalled.map(uncalledAgent) : []),
    checkClock(clocks),
  ]
}

type KnownConfig = Partial<Pick<HubConfig, 'listen' | 'store'>> & Pick<HubConfig, 'agents' | 'baseDir' | 'dataDir'>

/**
 * Of a configuration with errors, or with secrets that were not read. The sections of a file that cannot be parsed are not known; its data
 * directory is.
 */
function validParts(loaded: CliConfig, flags: Flags, terminal: Terminal): KnownConfig {
  const { tree, file } = loaded
  const baseDir = file === undefined ? terminal.cwd : configBaseDir(resolve(terminal.cwd, file))
  const sections = validSections(tree)
  const wasRead = (name: string): boolean => !loaded.unread.some(({ path }) => path[0] === name)
  const listen = wasRead('listen') ? sections.listen : undefined
  const store = wasRead('store') ? sections.store : undefined
  const isParsed = 'config' in loaded || loaded.problems.every(({ path }) => path.length > 0)
  return {
    agents: 'config' in loaded ? agentsWithAddress(loaded) : {},
    baseDir,
    dataDir: resolvedDataDirectory(flags, terminal),
    ...omitUndefined({
      listen: isParsed || flags.value('port') !== undefined ? listen : undefined,
      store: store && checkStoreSection(store, baseDir),
    }),
  }
}

/** What `checkAgents` looks at in the own fields of an agent. */
const checkedField = /^(url|baseUrl|path|cwd|command\[0\]|env\.PATH)$/

function agentsWithAddress({ config, unread }: Extract<CliConfig, { config: unknown }>): HubConfig['agents'] {
  const hidden = unread.flatMap(({ path: [, name, ...field] }) =>
    checkedField.test(formatPath(field)) ? [String(name)] : [],
  )
  return withoutKeys(config.agents, hidden)
}

/**
 * Agents on other machines, whose addresses the configuration completes with values of the environment or of files. It may be from a
 * folder that was cloned: the request would tell such an agent any of them.
 */
function agentsToReveal({ config, references }: Extract<CliConfig, { config: unknown }>): readonly string[] {
  return Object.entries(config.agents).flatMap(([name, { own }]) => {
    const fields = own as Readonly<Record<string, unknown>>
    const reveals = ['url', 'baseUrl'].some((field) => {
      const reference = references.get(formatPath(['agents', name, field])) ?? ''
      if (!reference.includes('${') || /^\$\{[^}]*\}$/.test(reference)) return false
      return !isLoopbackHost(new URL(String(fields[field])).hostname)
    })
    return reveals ? [name] : []
  })
}

function withoutKeys<Value>(record: Readonly<Record<string, Value>>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}

function uncalledAgent(name: string): DoctorFinding {
  return warning(
    `agent ${name}`,
    'not called: its address is on another machine and contains values of the environment or of files',
    'Start the hub, and run `parley doctor` again: it then shows what the hub sees.',
  )
}

function configFindings(loaded: CliConfig, hub: HubState, checkCommand: string): readonly DoctorFinding[] {
  const notRead = problemLines(loaded.unread, loaded.file).map((line) =>
    warning('configuration', line, 'Add --run-secrets to start the program or module that provides it.'),
  )
  if ('problems' in loaded && !lacksOnlySecrets(loaded))
    return loaded.problems.flatMap((problem) => {
      const next = lacksVariable(problem) ? 'Set the variable here and where the hub starts' : 'Edit the file'
      return problemLines([problem], loaded.file).map((line) =>
        failed('configuration', line, `${next}, then run \`${checkCommand}\`.`),
      )
    })
  if (hub.configRejection !== undefined)
    return [...notRead, failed('configuration', rejectionText(hub.configRejection), rejectionRemedy)]
  if ('problems' in loaded || notRead.length > 0) return notRead
  return [ok('configuration', `${loaded.file ?? 'the defaults'} (${agentCount(loaded.config)})`)]
}

const rejectionRemedy =
  'Correct the file, and the hub applies it at once. Variables of ${env:…} are those that the hub was started with.'

function rejectionText({ since, problem }: NonNullable<HubState['configRejection']>): string {
  return `not applied by the running hub since ${since}: ${problem}`
}

function agentCount({ agents }: HubConfig): string {
  const { length } = Object.keys(agents)
  return `${length} ${length === 1 ? 'agent' : 'agents'}`
}

export function checkNode(version: string): DoctorFinding {
  const isSupported = Number(version.split('.')[0]) >= minNodeMajor
  if (isSupported) return ok('node', `Node ${version}`)
  return failed('node', `Node ${version} is too old`, `Install Node ${minNodeMajor} or newer.`)
}
