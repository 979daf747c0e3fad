/** Whether each agent can be used: as the running hub sees it, or by looking for its program, file or address. */
import { access, constants } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { AgentConfig, HubConfig } from '../../config/hub-config.ts'
import { clockOfResponse, type ClockReading } from './check-clock.ts'
import { failed, ok, warning, type DoctorFinding } from './finding.ts'
import type { AgentHealthJson, HubState } from './hub-checks.ts'

export interface AgentResult {
  readonly findings: readonly DoctorFinding[]
  readonly clocks: readonly ClockReading[]
}

const responseTimeoutMs = 5_000

export async function checkAgents(config: HubConfig, hub: HubState, path = ''): Promise<AgentResult> {
  if (hub.agents !== undefined) return { findings: hub.agents.map(runningAgent), clocks: [] }
  const results = await Promise.all(
    Object.entries(config.agents).map(([name, entry]) => checkEntry(`agent ${name}`, entry, config.baseDir, path)),
  )
  return { findings: results.flatMap(({ findings }) => findings), clocks: results.flatMap(({ clocks }) => clocks) }
}

function runningAgent({ name, kind, state, startError, health }: AgentHealthJson): DoctorFinding {
  const check = `agent ${name}`
  if (state !== 'open') {
    const why = startError?.message ?? 'it did not start'
    return failed(check, why, 'The hub retries by itself. Correct the entry if the message does not go away.')
  }
  if (health.state === 'down')
    return failed(check, health.why ?? 'it does not respond', 'Check that it runs, and its URL and credentials.')
  if (health.state === 'slow') return warning(check, health.why ?? 'it is slow', 'See its traces in the console.')
  return ok(check, `${kind}, up`)
}

async function checkEntry(
  check: string,
  { kind, own }: AgentConfig,
  baseDir: string,
  path: string,
): Promise<AgentResult> {
  // The fields that kinds have in common.
  const { command, path: file, url, baseUrl } = own as Readonly<Record<string, unknown>>
  const address = typeof url === 'string' ? url : baseUrl
  if (typeof address === 'string') return checkAddress(check, address)
  if (Array.isArray(command) && typeof command[0] === 'string')
    return { findings: [await checkProgram(check, command[0], baseDir, path)], clocks: [] }
  if (kind === 'module' && typeof file === 'string')
    return { findings: [await checkModule(check, resolve(baseDir, file))], clocks: [] }
  return { findings: [ok(check, kind)], clocks: [] }
}

async function checkAddress(check: string, address: string): Promise<AgentResult> {
  // A WebSocket server answers HTTP requests, too.
  const url = address.replace(/^ws/, 'http')
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(responseTimeoutMs) })
    await response.body?.cancel()
    return { findings: [ok(check, `${url} responds`)], clocks: clockOfResponse(new URL(url).host, response) }
  } catch (reason) {
    const { cause, message } = reason as Error
    const why = cause instanceof Error && cause.message !== '' ? cause.message : message
    const remedy = 'Start the agent, or correct its address in the configuration.'
    return { findings: [failed(check, `${url} does not respond: ${why}`, remedy)], clocks: [] }
  }
}

async function checkProgram(check: string, program: string, baseDir: string, path: string): Promise<DoctorFinding> {
  const folders = program.includes('/') ? [baseDir] : path.split(delimiter).filter((folder) => folder !== '')
  for (const folder of folders) {
    const file = isAbsolute(program) ? program : join(folder, program)
    if (await isExecutable(file)) return ok(check, file)
  }
  return failed(check, `the program ${program} was not found`, 'Install it, or write its full path into `command`.')
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}

async function checkModule(check: string, file: string): Promise<DoctorFinding> {
  try {
    await access(file, constants.R_OK)
    return ok(check, file)
  } catch (reason) {
    return failed(check, (reason as Error).message, 'Correct `path`: it is relative to the configuration file.')
  }
}
