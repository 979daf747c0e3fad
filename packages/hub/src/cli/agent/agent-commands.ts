/** `parley agent list | remove`. */
import type { AgentSummary } from '../../admin/agent-view.ts'
import { hubDetails, hubFlags, isKeyMissing, requestAdmin } from '../admin-request.ts'
import { CliError, exitCodes, usageError, type Command, type Flags, type Terminal } from '../command.ts'
import { configFlags } from '../config-flags.ts'
import { outputDetails, outputFlags, printResult, styled, tableLines } from '../output.ts'

/** As the hub lists it; without a hub, what the configuration has. */
type ListedAgent = Pick<AgentSummary, 'name' | 'kind'> &
  Partial<Pick<AgentSummary, 'url' | 'startError' | 'health'>> & {
    readonly state: AgentSummary['state'] | 'not running'
  }

export const agentList: Command = {
  name: 'agent list',
  summary: 'Lists the agents with their state.',
  details: ['If no hub runs, lists the agents of the configuration.', ...hubDetails],
  flags: hubFlags,
  async run(flags, terminal) {
    const agents = await listAgents(flags, terminal)
    printResult(flags, terminal, { agents }, () =>
      tableLines(
        terminal,
        ['NAME', 'KIND', 'STATE', 'URL'],
        agents.map(({ name, kind, url = '', ...about }) => [name, kind, stateText(about), url]),
      ),
    )
    for (const { name, startError, health } of agents) {
      const why = startError?.message ?? health?.why
      if (why !== undefined) terminal.printError(`${name}: ${why}`)
    }
    return 0
  },
}

function stateText({ state, health }: Pick<ListedAgent, 'state' | 'health'>): string {
  return state === 'open' ? (health?.state ?? 'up') : state
}

async function listAgents(flags: Flags, terminal: Terminal): Promise<readonly ListedAgent[]> {
  try {
    return (await requestAdmin<{ agents: readonly ListedAgent[] }>(flags, terminal, 'GET', '/admin/agents')).agents
  } catch (reason) {
    const isNamed = (flags.value('url') ?? terminal.environment['PARLEY_URL']) !== undefined
    // Before the first start there is no admin key either.
    const isStopped = reason instanceof CliError && (reason.exitCode === exitCodes.unreachable || isKeyMissing(reason))
    if (isNamed || !isStopped) throw reason
    const { readValidConfig } = await import('../cli-settings.ts')
    const { config } = await readValidConfig(flags, terminal)
    terminal.printError(styled(terminal, 'dim', 'The hub is not running: these are the agents of the configuration.'))
    return Object.entries(config.agents).map(([name, { kind }]) => ({ name, kind, state: 'not running' }))
  }
}

export const agentRemove: Command = {
  name: 'agent remove',
  takes: '<name>',
  summary: 'Removes an agent from the configuration. Its tasks are kept.',
  details: [
    'A running hub applies the change by itself; running turns finish.',
    '-c, --config <file>     Default: parley.yaml, parley.yml or parley.json in this folder.',
    ...outputDetails,
  ],
  flags: { ...configFlags, ...outputFlags },
  async run(flags, terminal) {
    const [name] = flags.positionals
    if (name === undefined) throw usageError('Missing agent name: `parley agent list` shows the names.')
    const [{ configFile }, { removeAgentEntry }] = await Promise.all([
      import('../cli-settings.ts'),
      import('./write-agent-entry.ts'),
    ])
    const file = configFile(flags, terminal)
    if (file === undefined) throw new CliError('There is no configuration file in this folder: name it with --config.')
    const { resolve } = await import('node:path')
    removeAgentEntry(resolve(terminal.cwd, file), name)
    printResult(flags, terminal, { name, file }, () => [`Removed ${name} from ${file}.`])
    return 0
  },
}
