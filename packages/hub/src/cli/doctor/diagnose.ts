/** Runs the checks of `parley doctor`, each only if what it needs is known. */
import { problemLines, readConfig } from '../cli-settings.ts'
import type { HubConfig } from '../../config/hub-config.ts'
import type { Flags, Terminal } from '../command.ts'
import { checkAgents } from './agent-checks.ts'
import { checkClock } from './check-clock.ts'
import { failed, ok, type DoctorFinding } from './finding.ts'
import { findHub, checkPorts, type HubState } from './hub-checks.ts'
import { checkDisk, checkStore } from './store-checks.ts'

const minNodeMajor = 24

export async function diagnose(flags: Flags, terminal: Terminal): Promise<readonly DoctorFinding[]> {
  const loaded = await readConfig(flags, terminal)
  const node = checkNode(process.versions.node)
  if ('problems' in loaded) {
    const found = problemLines(loaded.problems, loaded.file).map((line) =>
      failed('configuration', line, 'Edit the file, then run `parley config check`.'),
    )
    return [node, ...found]
  }
  const { config, file } = loaded
  const hub = await findHub(flags, terminal, config)
  const [ports, store, agents] = await Promise.all([
    hub.isRunning ? [] : checkPorts(config.listen),
    checkStore(config, hub),
    checkAgents(config, hub, terminal.environment['PATH']),
  ])
  const clocks = [...hub.clocks, ...store.clocks, ...agents.clocks]
  return [
    node,
    hub.configRejection === undefined
      ? ok('configuration', `${file ?? 'the defaults'} (${agentCount(config)})`)
      : failed('configuration', rejectionText(hub.configRejection), rejectionRemedy),
    hub.finding,
    ...ports,
    ...store.findings,
    ...(await checkDisk(config)),
    ...agents.findings,
    checkClock(clocks),
  ]
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
