/** `parley mcp`: agents as tools for an MCP client that starts this program and talks to it over stdin and stdout. */
import type { AgentLog } from '@parley/a2a'
import type { Fetch } from '@parley/a2a/client'
import { CliError, usageError, type Command, type Flags, type Terminal } from './command.ts'
import { configFlags, listenFlags, runSecretsDetails, runSecretsFlags } from './config-flags.ts'

/** Less than the minute after which most clients time out. */
const waitMs = 50_000

export const mcpCommand: Command = {
  name: 'mcp',
  summary: 'Serves the agents of a hub, and others, as MCP tools over stdio.',
  details: [
    '--hub <url>             The hub whose agents are served. Default: PARLEY_URL, or the configuration.',
    '--key <key>             An API key of that hub. Default: PARLEY_KEY.',
    '--agent <url>           An agent by its URL; repeatable. Without --hub, no hub is used then.',
    '--token-env <NAME>      The environment variable of the token for those agents.',
    '--tools agents|skills   skills: adds one tool for each skill of each agent.',
    '--wait <seconds>        How long a call waits for an agent before it returns a running task. Default 50.',
    '--allow <host>          A private host or range that agent URLs in calls may resolve to.',
    '--no-remote             Disallows agent URLs in calls.',
    ...runSecretsDetails,
  ],
  flags: {
    ...configFlags,
    ...listenFlags,
    ...runSecretsFlags,
    hub: { type: 'string' },
    key: { type: 'string' },
    agent: { type: 'string', multiple: true },
    'token-env': { type: 'string' },
    tools: { type: 'string' },
    wait: { type: 'string' },
    allow: { type: 'string', multiple: true },
    'no-remote': { type: 'boolean' },
  },
  async run(flags, terminal) {
    const parts = await directoryOptions(flags, terminal)
    const settings = { tools: toolsOf(flags), waitMs: waitOf(flags) }
    // Loaded on demand: the MCP libraries are large.
    const [{ guardedFetch }, { createClientDirectory }, { serveMcpStdio }] = await Promise.all([
      import('@parley/a2a/node'),
      import('../mcp/directory/client-directory.ts'),
      import('../mcp/stdio.ts'),
    ])
    const { input, output } = terminal
    const guard = guardedFetch({ allowHttp: true, allow: flags.values('allow') })
    const directory = createClientDirectory({ ...parts, ...(flags.has('no-remote') ? {} : { guardedFetch: guard }) })
    const bridge = serveMcpStdio({ directory, settings, input, output, log: logTo(terminal) })
    await Promise.race([bridge.closed, terminal.untilShutdown()])
    await bridge.close()
    return 0
  },
}

async function directoryOptions(flags: Flags, terminal: Terminal) {
  const agents = await Promise.all(flags.values('agent').map((address) => httpUrlOf(address, '--agent')))
  const hub = await hubTarget(flags, terminal, agents.length > 0)
  const bearer = tokenOf(flags.value('token-env'), terminal)
  const fetch: Fetch = (request) => globalThis.fetch(request)
  return { agents, hub, bearer, fetch }
}

async function hubTarget(flags: Flags, terminal: Terminal, hasAgents: boolean) {
  const { environment } = terminal
  const key = flags.value('key') ?? (environment['PARLEY_KEY'] || undefined)
  const named = flags.value('hub') ?? (hasAgents ? undefined : environment['PARLEY_URL'] || undefined)
  if (named !== undefined) return { url: (await httpUrlOf(named, '--hub')).replace(/\/+$/, ''), key }
  if (hasAgents) return undefined
  const [{ readConfig, resolvedDataDirectory, sectionOf }, { localHubUrl, requireThisMachine }] = await Promise.all([
    import('./cli-settings.ts'),
    import('./hub-address.ts'),
  ])
  const loaded = await readConfig(flags, terminal)
  const url = await localHubUrl(flags, resolvedDataDirectory(flags, terminal), () => sectionOf(loaded, 'listen'))
  if (key !== undefined) await requireThisMachine(url, 'The API key', '--hub')
  return { url, key }
}

async function httpUrlOf(address: string, flag: string): Promise<string> {
  const { withScheme } = await import('../config/values.ts')
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
  const tools = flags.value('tools') ?? 'agents'
  if (tools === 'agents' || tools === 'skills') return tools
  throw usageError('--tools must be agents or skills.')
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
