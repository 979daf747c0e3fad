/** `parley agent list | remove`. */
import type { AgentSummary } from '../../admin/agent-summary.ts'
import { hubDetails, hubFlags, namedUrl, requestAdmin } from '../admin-request.ts'
import { CliError, exitCodes, usageError, type Command, type Flags, type Terminal } from '../command.ts'
import { configFlags, runSecretsDetails, runSecretsFlags } from '../config-flags.ts'
import { outputDetails, outputFlags, printResult, styled, tableLines, wantsJson } from '../output.ts'

/** As the hub lists it; without a hub, what the configuration has. */
type ListedAgent = Pick<AgentSummary, 'name' | 'kind'> &
  Partial<Pick<AgentSummary, 'url' | 'status'>> & {
    readonly state: AgentSummary['state'] | 'not running'
  }

export const agentList: Command = {
  name: 'agent list',
  summary: 'Lists the agents with their state.',
  details: ['If no hub runs, lists the agents of the configuration.', ...hubDetails],
  flags: hubFlags,
  async run(flags, terminal) {
    const { receivedStatus } = await import('../../admin/agent-status.ts')
    const agents = (await listAgents(flags, terminal)).map((agent) =>
      agent.state === 'not running' ? agent : { ...agent, status: receivedStatus(agent as AgentSummary) },
    )
    printResult(flags, terminal, { agents }, () =>
      tableLines(
        terminal,
        ['NAME', 'KIND', 'STATE', 'URL'],
        agents.map(({ name, kind, url = '', state, status }) => [name, kind, status?.state ?? state, url]),
      ),
    )
    for (const { name, status } of agents)
      if (status?.reason !== undefined) terminal.printError(`${name}: ${status.reason}`)
    return 0
  },
}

async function listAgents(flags: Flags, terminal: Terminal): Promise<readonly ListedAgent[]> {
  try {
    return (await requestAdmin<{ agents: readonly ListedAgent[] }>(flags, terminal, 'GET', '/admin/agents')).agents
  } catch (reason) {
    const isStopped = reason instanceof CliError && reason.exitCode === exitCodes.unreachable
    if (!isStopped || (await namedUrl(flags, terminal)) !== undefined) throw reason
    const { knownSections, readConfig } = await import('../cli-settings.ts')
    const configured = knownSections(await readConfig(flags, terminal)).agents as Readonly<Record<string, ListedAgent>>
    terminal.printError(styled(terminal, 'dim', 'The hub is not running: these are the agents of the configuration.'))
    return Object.entries(configured).map(([name, { kind }]) => ({ name, kind, state: 'not running' }))
  }
}

/** Of commands that change the configuration and ask the running hub about it. */
export const configEditFlags = {
  ...configFlags,
  ...runSecretsFlags,
  ...outputFlags,
  url: { type: 'string' },
  timeout: { type: 'string' },
} satisfies Command['flags']
export const configEditDetails = [
  '-c, --config <file>     Default: parley.yaml, parley.yml or parley.json in this folder; if there is none, a new parley.yaml with the demo agents.',
  '--url <url>             URL of the running hub. Default: PARLEY_URL, or the configuration.',
  '--timeout <seconds>     How long to wait for the hub. Default 30.',
  ...runSecretsDetails,
  ...outputDetails,
]

export const agentRemove: Command = {
  name: 'agent remove',
  takes: '<name>',
  summary: 'Removes an agent from the configuration. Its tasks are kept.',
  details: [
    'A running hub applies the change at once; running turns finish. Exits with 1 if it is not written, or if the hub does not apply it.',
    '--secrets               Also removes the secrets that the hub keeps and that only this agent used.',
    ...configEditDetails,
  ],
  flags: { ...configEditFlags, secrets: { type: 'boolean' } },
  async run(flags, terminal) {
    const [name] = flags.positionals
    if (name === undefined) throw usageError('Missing agent name: `parley agent list` shows the names.')
    const [{ openConfigSource, secretReader }, { removeAgentEntry }, { hubOutcome, reportOutcome }] = await Promise.all(
      [import('../cli-settings.ts'), import('./write-agent-entry.ts'), import('./hub-outcome.ts')],
    )
    const source = await openConfigSource(flags, terminal, secretReader(flags, terminal))
    const secrets = await secretsOnlyOf(name, flags, terminal)
    await removeAgentEntry(source, name)
    const { file } = source
    const hub = await hubOutcome(flags, terminal, file, name)
    const areRemoved = flags.has('secrets') && hub.state === 'removed'
    if (areRemoved) for (const secret of secrets) await requestAdmin(flags, terminal, 'DELETE', secretPath(secret))
    const about = areRemoved ? { removedSecrets: secrets } : { unusedSecrets: secrets }
    printResult(flags, terminal, { name, file, hub, ...about }, () => [`Removed ${name} from ${file}.`])
    const code = reportOutcome(flags, terminal, hub)
    if (hub.state === 'removed' && !wantsJson(flags))
      for (const secret of secrets)
        terminal.print(
          areRemoved
            ? `Removed the secret ${secret}, which only ${name} used.`
            : `No agent uses the secret ${secret} now: remove it with \`parley secret remove ${secret}\`.`,
        )
    return code
  },
}

const secretPath = (secret: string): string => `/admin/secrets/${encodeURIComponent(secret)}`

/** None if no hub can be asked: it keeps them. */
async function secretsOnlyOf(agent: string, flags: Flags, terminal: Terminal): Promise<readonly string[]> {
  type Secrets = { readonly secrets: readonly { readonly name: string; readonly agents: readonly string[] }[] }
  try {
    const { secrets } = await requestAdmin<Secrets>(flags, terminal, 'GET', '/admin/secrets')
    return secrets.filter(({ agents }) => agents.length === 1 && agents[0] === agent).map(({ name }) => name)
  } catch (reason) {
    if (reason instanceof CliError) return []
    throw reason
  }
}
