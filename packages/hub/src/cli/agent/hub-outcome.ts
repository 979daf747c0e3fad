/** What a running hub makes of an agent that a command has written to the configuration, or why that is unknown. */
import { realpathSync } from 'node:fs'
import { receivedStatus } from '../../admin/agent-status.ts'
import type { AgentSummary } from '../../admin/agent-summary.ts'
import { hubUrl, requestAdmin } from '../admin-request.ts'
import { CliError, exitCodes, type Flags, type Terminal } from '../command.ts'
import { wantsJson } from '../output.ts'

export interface HubOutcome {
  /**
   * `refused`: the hub did not apply the file. `failed`: it did, but the agent cannot be used. `unknown`: the hub could not be asked, or
   * uses another file.
   */
  readonly state: 'running' | 'removed' | 'refused' | 'failed' | 'stopped' | 'unknown'
  /** The hub that was asked. */
  readonly url?: string
  readonly message: string
}

/** Lets the hub read the file at once instead of waiting until it notices the change, so that its answer is about this change. */
export async function hubOutcome(flags: Flags, terminal: Terminal, file: string, agent: string): Promise<HubOutcome> {
  let url: string | undefined
  try {
    url = await hubUrl(flags, terminal)
    const { file: used } = await requestAdmin<{ readonly file: string }>(flags, terminal, 'GET', '/admin/config')
    if (pathOf(used) !== pathOf(file)) {
      const message = `The hub at ${url} uses another file, ${used}: name that with --config, or another hub with --url.`
      return { state: 'unknown', url, message }
    }
  } catch (reason) {
    if (!(reason instanceof CliError)) throw reason
    if (reason.exitCode === exitCodes.unreachable && url !== undefined)
      return { state: 'stopped', url, message: `The hub at ${url} is not running: it uses this at its next start.` }
    const hub = url === undefined ? 'The hub' : `The hub at ${url}`
    const message = `${hub} could not be asked about it: ${reason.message}`
    return { state: 'unknown', ...(url === undefined ? {} : { url }), message }
  }
  try {
    await requestAdmin(flags, terminal, 'POST', '/admin/config/reload')
    return await agentOutcome(flags, terminal, url, agent)
  } catch (reason) {
    if (!(reason instanceof CliError)) throw reason
    // After a timeout the hub may still apply it.
    const state = reason.exitCode === exitCodes.failure ? 'refused' : 'unknown'
    return { state, url, message: `The hub at ${url} did not apply it: ${reason.message}` }
  }
}

async function agentOutcome(flags: Flags, terminal: Terminal, url: string, agent: string): Promise<HubOutcome> {
  type Agents = { readonly agents: readonly AgentSummary[] }
  const { agents } = await requestAdmin<Agents>(flags, terminal, 'GET', '/admin/agents')
  const found = agents.find(({ name }) => name === agent)
  if (found === undefined) return { state: 'removed', url, message: `The hub at ${url} serves no agent ${agent}.` }
  if (found.state === 'open' && found.health.state !== 'down') {
    return { state: 'running', url, message: `${agent} is running: ${found.url}` }
  }
  const why = receivedStatus(found).reason ?? 'see `parley agent list`'
  return { state: 'failed', url, message: `${agent} failed: ${why}` }
}

/** Returns the exit code: a change that the hub cannot use is a failure, although it is written. */
export function reportOutcome(flags: Flags, terminal: Terminal, { state, message }: HubOutcome): number {
  const isGood = state === 'running' || state === 'removed'
  if (!isGood) terminal.printError(message)
  else if (!wantsJson(flags)) terminal.print(message)
  return state === 'failed' || state === 'refused' ? exitCodes.failure : 0
}

function pathOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
