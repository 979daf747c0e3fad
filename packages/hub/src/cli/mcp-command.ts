/** `parley mcp`: agents as tools for an MCP client that starts this program and talks to it over stdin and stdout. */
import type { AgentLog } from '@parley/a2a'
import type { Fetch } from '@parley/a2a/client'
import { guardedFetch } from '@parley/a2a/node'
import { withScheme } from '../config/values.ts'
import { createClientDirectory } from '../mcp/directory/client-directory.ts'
import { serveMcpStdio } from '../mcp/stdio.ts'
import { readConfig, resolvedDataDirectory, sectionOf } from './cli-settings.ts'
import { CliError, usageError, type Flags, type Terminal } from './command.ts'
import { localHubUrl, requireThisMachine } from './hub-address.ts'

/** Less than the minute after which most clients time out. */
const waitMs = 50_000

export async function serveMcp(flags: Flags, terminal: Terminal): Promise<number> {
  const parts = await directoryOptions(flags, terminal)
  const settings = { tools: toolsOf(flags), waitMs: waitOf(flags) }
  const { input, output } = terminal
  const guard = guardedFetch({ allowHttp: true, allow: flags.values('allow') })
  const directory = createClientDirectory({ ...parts, ...(flags.has('no-remote') ? {} : { guardedFetch: guard }) })
  const bridge = serveMcpStdio({ directory, settings, input, output, log: logTo(terminal) })
  await Promise.race([bridge.closed, terminal.untilShutdown()])
  await bridge.close()
  return 0
}

async function directoryOptions(flags: Flags, terminal: Terminal) {
  const agents = flags.values('agent').map((address) => httpUrlOf(address, '--agent'))
  const hub = await hubTarget(flags, terminal, agents.length > 0)
  const bearer = tokenOf(flags.value('token-env'), terminal)
  const fetch: Fetch = (request) => globalThis.fetch(request)
  return { agents, hub, bearer, fetch }
}

async function hubTarget(flags: Flags, terminal: Terminal, hasAgents: boolean) {
  const { environment } = terminal
  const key = flags.value('key') ?? (environment['PARLEY_KEY'] || undefined)
  const named = flags.value('hub') ?? (hasAgents ? undefined : environment['PARLEY_URL'] || undefined)
  if (named !== undefined) return { url: httpUrlOf(named, '--hub').replace(/\/+$/, ''), key }
  if (hasAgents) return undefined
  const loaded = await readConfig(flags, terminal)
  const url = await localHubUrl(flags, resolvedDataDirectory(flags, terminal), () => sectionOf(loaded, 'listen'))
  if (key !== undefined) await requireThisMachine(url, 'The API key', '--hub')
  return { url, key }
}

function httpUrlOf(address: string, flag: string): string {
  const url = withScheme(address)
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url
  throw usageError(
    `${flag} must be an http or https URL such as https://agent.example.com, not ${JSON.stringify(url)}.`,
  )
}

function tokenOf(name: string | undefined, { environment }: Terminal): string | undefined {
  if (name === undefined) return undefined
  const token = environment[name]
  if (token === undefined || token === '') throw new CliError(`${name} is not set in the environment.`)
  return token
}

function toolsOf(flags: Flags): 'agents' | 'skills' {
  return flags.value('tools') === 'skills' ? 'skills' : 'agents'
}

function waitOf(flags: Flags): number {
  const wait = flags.value('wait')
  if (wait === undefined) return waitMs
  const seconds = Number(wait)
  if (seconds >= 0 && seconds <= 3_600) return seconds * 1_000
  throw usageError('--wait must be a number of seconds from 0 to 3600.')
}

/** Stdout belongs to the protocol, so logs go to stderr. */
function logTo({ printError }: Terminal): AgentLog {
  const line = (message: string, { cause, ...fields }: Record<string, unknown> = {}): void => {
    const more = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`
    printError(`${message}${more}${cause instanceof Error ? `: ${cause.message}` : ''}`)
  }
  return { debug() {}, info() {}, warn: line, error: line }
}
