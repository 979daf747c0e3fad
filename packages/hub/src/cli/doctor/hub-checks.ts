/** Whether the hub runs, and otherwise whether its ports are free. */
import type { AgentSummary } from '../../admin/agent-summary.ts'
import type { HubHealth } from '../../admin/routes/health.ts'
import { sharedGrpcPort } from '../../config/sections/listen.ts'
import type { HubConfig } from '../../config/hub-config.ts'
import { fetchHub, isHubHealth, namedUrl, requestAdmin } from '../admin-request.ts'
import { commandText } from '../command-text.ts'
import { localHubUrl, recordedAddress } from '../hub-address.ts'
import { CliError, exitCodes, type Flags, type Terminal } from '../command.ts'
import { listenError } from '../port-check.ts'
import { clockOfResponse, type ClockReading } from './check-clock.ts'
import { failed, ok, warning, type DoctorFinding } from './finding.ts'

export interface HubState {
  readonly isRunning: boolean
  readonly finding: DoctorFinding
  /** Whether its store answers, if it runs. */
  readonly isReady?: boolean
  /** Its agents, if it runs and the admin key is known. */
  readonly agents?: readonly AgentSummary[]
  /** Why it did not apply its configuration file, if it runs and the admin key is known. */
  readonly configRejection?: HubHealth['configRejection']
  readonly clocks: readonly ClockReading[]
}

/** Without `listen`, which the configuration would have, only the record in the data directory tells where it runs. */
export async function findHub(
  flags: Flags,
  terminal: Terminal,
  { listen, dataDir }: Partial<Pick<HubConfig, 'listen'>> & Pick<HubConfig, 'dataDir'>,
): Promise<HubState> {
  const local = listen === undefined ? recordedAddress(dataDir) : localHubUrl(flags, dataDir, () => listen)
  const url = (await namedUrl(flags, terminal)) ?? (await local)
  if (url === undefined) return { isRunning: false, finding: ok('hub', `none runs in ${dataDir}`), clocks: [] }
  try {
    const health = await fetchHub(`${url}/healthz`, flags)
    if (!(await isHubHealth(health))) {
      const finding = failed('hub', `${url} is used by another program`, 'Choose another port with --port.')
      return { isRunning: true, finding, clocks: [] }
    }
    const isReady = (await fetchHub(`${url}/readyz`, flags)).ok
    const clocks = clockOfResponse('the hub', health)
    return { isRunning: true, isReady, clocks, ...(await readAgents(flags, terminal, url)) }
  } catch (reason) {
    if (!(reason instanceof CliError)) throw reason
    const finding =
      reason.exitCode === exitCodes.unreachable
        ? ok('hub', `not running at ${url}`)
        : failed('hub', reason.message, `See \`${commandText(flags, terminal, 'logs')}\`, or restart the hub.`)
    return { isRunning: reason.exitCode !== exitCodes.unreachable, finding, clocks: [] }
  }
}

async function readAgents(
  flags: Flags,
  terminal: Terminal,
  url: string,
): Promise<Pick<HubState, 'agents' | 'configRejection' | 'finding'>> {
  try {
    const { agents } = await requestAdmin<{ agents: readonly AgentSummary[] }>(
      flags,
      terminal,
      'GET',
      '/admin/agents?check=now',
    )
    const { configRejection } = await requestAdmin<HubHealth>(flags, terminal, 'GET', '/admin/health')
    return { agents, configRejection, finding: ok('hub', `running at ${url}`) }
  } catch (reason) {
    if (!(reason instanceof CliError)) throw reason
    return { finding: warning('hub', `running at ${url}; its agents were not asked`, reason.message) }
  }
}

export async function checkPorts(listen: HubConfig['listen']): Promise<readonly DoctorFinding[]> {
  const { host, port } = listen
  const ports = [
    ['port', '--port', port],
    ['gRPC port', '--grpc-port', sharedGrpcPort(listen)],
  ] as const
  return Promise.all(ports.flatMap(([name, flag, number]) => (number === false ? [] : [checkPort(name, flag, host, number)]))) // prettier-ignore
}

async function checkPort(name: string, flag: string, host: string, port: number): Promise<DoctorFinding> {
  if (port === 0) return ok(name, 'chosen by the system')
  const error = await listenError(host, port)
  if (error === undefined) return ok(name, `${host}:${port} is free`)
  const remedies: Partial<Record<string, string>> = {
    EADDRINUSE: `Stop the other program, or choose another port with ${flag}.`,
    EACCES: `Choose a port above 1023 with ${flag}, or allow the program to use it.`,
    EADDRNOTAVAIL: 'This machine does not have that address: change `listen.host`.',
  }
  return failed(name, `${host}:${port}: ${error.message}`, remedies[error.code ?? ''] ?? `Choose another with ${flag}.`)
}
