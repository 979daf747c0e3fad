/** The agents of a server: their names, where they live, and what card and engine need to know of each. */
import type { AgentEntry } from '../engine/contract.ts'
import type { AgentExtension } from '../model/card.ts'
import { traceExtension } from '../model/extension.ts'
import { ConfigError } from './config-error.ts'
import { defaultAgentOptions } from './defaults.ts'
import { declaration, type Extension } from './extension.ts'
import type { Agent, AgentSettings, AgentsOption, HouseOptions } from './options.ts'

export interface Resident {
  readonly name: string
  /** Below the mount: `/a2a/{name}`, or nothing for the only agent of a server. */
  readonly path: string
  readonly settings: AgentSettings
  /** In the card. */
  readonly extensions: readonly AgentExtension[]
  /** The same with what they do. */
  readonly registered: readonly Extension[]
  /** Whether events tell the trace of the request that they come from. */
  readonly isTraced: boolean
  readonly declared: ReadonlySet<string>
  readonly required: readonly string[]
  readonly entry: AgentEntry
}

export interface Roster {
  readonly byName: ReadonlyMap<string, Resident>
  /** Answers at the root as well. */
  readonly first: Resident
}

/** The name of an agent that is alone. Tasks are kept under it, so it must not follow the card's name. */
export const onlyAgent = 'default'

/** Names that mean something else at the place where an agent's name would stand. */
const reserved: ReadonlySet<string> = new Set([
  'tasks',
  'agents',
  'agent',
  'v1',
  'admin',
  'api',
  'mcp',
  'healthz',
  'readyz',
  'metrics',
  'agent-card',
  'extendedAgentCard',
])

/** What may be said once for all agents of a server. */
type Shared = Pick<HouseOptions, 'extensions' | 'onEvent' | 'transformEvent'>

export function createRoster(options: AgentsOption & Shared): Roster {
  const residents = options.agents === undefined ? [only(options)] : several(options.agents, options)
  const [first] = residents
  if (first === undefined) throw new ConfigError('agents', 'name at least one agent')
  return { byName: new Map(residents.map((resident) => [resident.name, resident])), first }
}

function only(settings: AgentSettings): Resident {
  return settle(onlyAgent, '', 'agent', settings)
}

function several(agents: { readonly [name: string]: Agent | AgentSettings }, shared: Shared): Resident[] {
  return Object.entries(agents).map(([name, given]) => {
    const path = `agents.${name}`
    if (!/^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$/.test(name)) {
      throw new ConfigError(
        path,
        'a name is 1 to 64 letters, digits, dots, dashes, underscores or tildes, and begins with a letter or digit',
      )
    }
    if (reserved.has(name)) throw new ConfigError(path, 'this name is reserved, choose another')
    const settings: AgentSettings = typeof given === 'object' && 'agent' in given ? given : { agent: given }
    return settle(name, `/a2a/${name}`, `${path}.agent`, { name, ...settings }, shared)
  })
}

function settle(name: string, path: string, where: string, settings: AgentSettings, shared: Shared = {}): Resident {
  requireAgent(settings.agent, where)
  // What an agent says of an extension wins over what is said for all.
  const listed = [...(shared.extensions ?? []), ...(settings.extensions ?? [])]
  const registered = [...new Map(listed.map((extension) => [extension.uri, extension])).values()]
  const extensions = registered.map(declaration)
  const onEvent = settings.onEvent ?? shared.onEvent
  const transformEvent = settings.transformEvent ?? shared.transformEvent
  return {
    name,
    path,
    settings,
    extensions,
    registered,
    isTraced: registered.some(({ uri }) => uri === traceExtension),
    declared: new Set(extensions.map(({ uri }) => uri)),
    required: extensions.filter(({ required }) => required === true).map(({ uri }) => uri),
    entry: {
      agent: settings.agent,
      inputModes: widen(settings, 'inputModes'),
      outputModes: widen(settings, 'outputModes'),
      streaming: settings.streaming ?? true,
      options: { ...defaultAgentOptions, ...defined(settings) },
      ...(onEvent !== undefined ? { onEvent } : {}),
      ...(transformEvent !== undefined ? { transformEvent } : {}),
    },
  }
}

function requireAgent(agent: unknown, where: string): void {
  const run = typeof agent === 'object' && agent !== null && 'run' in agent ? agent.run : agent
  if (typeof run !== 'function') throw new ConfigError(where, 'give a function, or an object with resume and run')
}

/** What a skill takes or gives is taken or given by its agent. Nothing said anywhere means anything goes. */
function widen({ skills = [], ...settings }: AgentSettings, modes: 'inputModes' | 'outputModes'): readonly string[] {
  const own = settings[modes]
  if (own === undefined) return []
  return [...new Set([...own, ...skills.flatMap((skill) => skill[modes] ?? [])])]
}

/** Every option of the engine: those that have a default, and the one that is off. */
const engineOptions = [...Object.keys(defaultAgentOptions), 'inputTimeout'] as readonly (keyof AgentEntry['options'])[]

/** The engine's own options among the settings, without the ones left open. */
function defined(settings: AgentSettings): Partial<AgentEntry['options']> {
  const given = engineOptions.filter((name) => settings[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, settings[name]]))
}
