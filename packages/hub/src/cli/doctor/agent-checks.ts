/** Whether each agent can be used: as the running hub sees it, or by looking for its program, file or address. */
import { access, constants } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { AgentSummary } from '../../admin/agent-view.ts'
import { findProgram, type ProgramSearchPath } from '../../agents/programs/find-program.ts'
import type { AgentConfig, HubConfig } from '../../config/hub-config.ts'
import { clockOfResponse, type ClockReading } from './check-clock.ts'
import { failed, ok, warning, type DoctorFinding } from './finding.ts'
import type { HubState } from './hub-checks.ts'

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

function runningAgent({ name, kind, state, startError, health }: AgentSummary): DoctorFinding {
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
    const { cause, name } = reason as Error
    const why = cause instanceof Error && cause.message !== '' ? cause.message : name
    const remedy = 'Start the agent, or correct its address in the configuration.'
    return { findings: [failed(check, `${shown} does not respond: ${why}`, remedy)], clocks: [] }
  }
}

async function checkProgram(check: string, program: string, where: ProgramSearchPath): Promise<DoctorFinding> {
  const file = await findProgram(program, where)
  if (file !== undefined) return ok(check, file)
  return failed(check, `the program ${program} was not found`, 'Install it, or write its full path into `command`.')
}

async function checkModule(check: string, file: string): Promise<DoctorFinding> {
  try {
    await access(file, constants.R_OK)
    return ok(check, file)
  } catch (reason) {
    return failed(check, (reason as Error).message, 'Correct `path`: it is relative to the configuration file.')
  }
}
