/** Whether each agent can be used: as the running hub sees it, or by looking for its program, file or address. */
import { access, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import { receivedStatus, recentFailure } from '../../admin/agent-status.ts'
import type { AgentSummary } from '../../admin/agent-summary.ts'
import { findProgram, requireProgram, type ProgramSearchPath } from '../../agents/programs/find-program.ts'
import type { AgentConfig, HubConfig } from '../../config/hub-config.ts'
import { hubReferencesIn } from '../../config/secrets/hub-references.ts'
import { operatorMessage } from '../../json/operator-message.ts'
import { clockOfResponse, type ClockReading } from './check-clock.ts'
import { failed, ok, warning, type DoctorFinding } from './finding.ts'
import type { HubState } from './hub-checks.ts'

export interface AgentResult {
  readonly findings: readonly DoctorFinding[]
  readonly clocks: readonly ClockReading[]
}

const responseTimeoutMs = 5_000

export async function checkAgents(
  config: Pick<HubConfig, 'agents' | 'baseDir'>,
  hub: HubState,
  path = '',
): Promise<AgentResult> {
  if (hub.agents !== undefined) return { findings: hub.agents.map(runningAgent), clocks: [] }
  const results = await Promise.all(
    Object.entries(config.agents).map(([name, entry]) => checkEntry(`agent ${name}`, entry, config.baseDir, path)),
  )
  return { findings: results.flatMap(({ findings }) => findings), clocks: results.flatMap(({ clocks }) => clocks) }
}

function runningAgent(agent: AgentSummary): DoctorFinding {
  const { name, kind } = agent
  const { state, reason: why = '' } = receivedStatus(agent)
  const check = `agent ${name}`
  if (state === 'up') {
    const failure = recentFailure(agent, Date.now())
    if (failure === undefined) return ok(check, `${kind}, up`)
    return warning(check, `${kind}, up; ${failure}`, 'See its tasks in the console, and `parley logs`.')
  }
  if (state === 'slow') return warning(check, why, 'See its traces in the console.')
  if (state === 'failing') return warning(check, why, 'See its failed tasks in the console, and `parley logs`.')
  if (state === 'blocked') return warning(check, why, 'Compare the cards in the console, and approve the new one.')
  const [secret] = hubReferencesIn(why)
  if (secret !== undefined) return failed(check, why, `Run \`parley secret set ${secret}\`: the agent opens at once.`)
  const local = localRemedy(kind, why)
  if (local !== undefined) return failed(check, why, local)
  if (state === 'unavailable')
    return failed(check, why, 'The hub retries by itself. Correct the entry if the message does not go away.')
  return failed(check, why, 'Check that it runs, and its URL, credentials and model.')
}

/** For an agent that is a file or a program of this machine, without a URL and credentials. */
function localRemedy(kind: string, why: string): string | undefined {
  if (kind === 'module' && why.endsWith('Restart the hub to load it again'))
    return 'Correct that file, then restart the hub.'
  if (kind === 'module')
    return 'Correct the file, or its `path` in the configuration: the hub loads it again by itself.'
  if (/ is not executable\. /.test(why)) return 'Make it executable, or correct `command` in the configuration.'
  if (kind === 'command' || kind === 'acp' || /the program .* does not exist|ENOENT/.test(why))
    return 'Install the program, or correct `command` in the configuration. See `parley logs` if it ends with an error.'
  return undefined
}

async function checkEntry(
  check: string,
  { kind, own }: AgentConfig,
  baseDir: string,
  path: string,
): Promise<AgentResult> {
  // The fields that kinds have in common.
  const { command, path: file, url, baseUrl, cwd, env } = own as Readonly<Record<string, unknown>>
  const address = typeof url === 'string' ? url : baseUrl
  if (typeof address === 'string') return checkAddress(check, address)
  if (Array.isArray(command) && typeof command[0] === 'string')
    return { findings: [await checkProgram(check, command[0], searchPath(baseDir, path, cwd, env))], clocks: [] }
  if (kind === 'module' && typeof file === 'string')
    return { findings: [await checkModule(check, resolve(baseDir, file))], clocks: [] }
  return { findings: [ok(check, kind)], clocks: [] }
}

/** As the kinds that start programs have it. */
function searchPath(baseDir: string, path: string, cwd: unknown, env: unknown): ProgramSearchPath {
  const folder = typeof cwd === 'string' ? resolve(baseDir, cwd) : baseDir
  return { cwd: folder, env: { PATH: path, ...(env as Readonly<Record<string, string>> | undefined) } }
}

async function checkAddress(check: string, address: string): Promise<AgentResult> {
  // A WebSocket server answers HTTP requests, too.
  const url = new URL(address.replace(/^ws/, 'http'))
  // Without a password and a query: the output ends up in logs and tickets.
  const shown = `${url.origin}${url.pathname}`
  for (const part of ['username', 'password'] as const) url[part] = ''
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(responseTimeoutMs) })
    await response.body?.cancel()
    return { findings: [ok(check, `${shown} responds`)], clocks: clockOfResponse(url.host, response) }
  } catch (reason) {
    const why = operatorMessage(reason)
    const remedy = 'Start the agent, or correct its address in the configuration.'
    return { findings: [failed(check, `${shown} does not respond: ${why}`, remedy)], clocks: [] }
  }
}

async function checkProgram(check: string, program: string, where: ProgramSearchPath): Promise<DoctorFinding> {
  try {
    await requireProgram(program, where)
    return ok(check, (await findProgram(program, where)) ?? program)
  } catch (reason) {
    return failed(check, (reason as Error).message, 'Install it, or correct `command`, for example to its full path.')
  }
}

async function checkModule(check: string, file: string): Promise<DoctorFinding> {
  try {
    await access(file, constants.R_OK)
    return ok(check, file)
  } catch (reason) {
    return failed(check, (reason as Error).message, 'Correct `path`: it is relative to the configuration file.')
  }
}
