/** `parley agent list | remove`. */
import { receivedStatus } from '../../admin/agent-status.ts'
import type { AgentSummary } from '../../admin/agent-summary.ts'
import { namedUrl, requestAdmin } from '../admin-request.ts'
import { CliError, exitCodes, type Flags, type Terminal } from '../command.ts'
import { knownSections, openConfigSource, readConfig, secretReader } from '../cli-settings.ts'
import { printResult, styled, tableLines, wantsJson } from '../output.ts'
import { hubOutcome, reportOutcome } from './hub-outcome.ts'
import { removeAgentEntry } from './write-agent-entry.ts'

/** As the hub lists it; without a hub, what the configuration has. */
type ListedAgent = Pick<AgentSummary, 'name' | 'kind'> &
  Partial<Pick<AgentSummary, 'url' | 'status'>> & {
    readonly state: AgentSummary['state'] | 'not running'
  }

export async function listAgents(flags: Flags, terminal: Terminal): Promise<number> {
  const agents = (await readAgents(flags, terminal)).map((agent) =>
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
}

async function readAgents(flags: Flags, terminal: Terminal): Promise<readonly ListedAgent[]> {
  try {
    return (await requestAdmin<{ agents: readonly ListedAgent[] }>(flags, terminal, 'GET', '/admin/agents')).agents
  } catch (reason) {
    const isStopped = reason instanceof CliError && reason.exitCode === exitCodes.unreachable
    if (!isStopped || (await namedUrl(flags, terminal)) !== undefined) throw reason
    const configured = knownSections(await readConfig(flags, terminal)).agents as Readonly<Record<string, ListedAgent>>
    terminal.printError(styled(terminal, 'dim', 'The hub is not running: these are the agents of the configuration.'))
    return Object.entries(configured).map(([name, { kind }]) => ({ name, kind, state: 'not running' }))
  }
}

export async function removeAgent(flags: Flags, terminal: Terminal): Promise<number> {
  const [name = ''] = flags.positionals
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
