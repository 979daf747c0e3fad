/**
 * The agents of a server, which are added and removed while it runs. A lookup returns the agent registered at that moment. A
 * removed agent stays readable until the process ends, so that its tasks can be read.
 */
import { A2AError } from '../../model/error.ts'
import { checkAgentSettings } from '../check-options.ts'
import { ConfigError } from '../config-error.ts'
import { throwConfigError } from '../option-checks.ts'
import type { Agent, AgentSettings, AgentsOption } from '../options.ts'
import type { RegisteredAgent, SharedAgentOptions } from './registered-agent.ts'
import {
  createNamedAgent,
  createRegisteredAgent,
  placeholderAgent,
  retiredAgent,
  unnamedAgent,
} from './registered-agent.ts'

export interface AgentRegistry {
  /** Includes agents that are being removed. */
  readonly byName: ReadonlyMap<string, RegisteredAgent>
  /** Also serves the root. A field and not a getter, because every request reads it. */
  readonly defaultAgent: RegisteredAgent
  /** In registration order, without agents that are being removed. */
  names(): readonly string[]
  /** Returns the agent that it replaces. Throws ConfigError. */
  set(name: string, given: Agent | AgentSettings): RegisteredAgent | undefined
  /** Stops the agent from accepting new tasks. Returns `undefined` if the agent is not registered. */
  dismiss(name: string): RegisteredAgent | undefined
  /** Call it when no turn of the agent runs any more. */
  retire(registeredAgent: RegisteredAgent): void
  /** `false`: no agent is the default. Throws ConfigError if the agent is not registered. */
  makeDefault(name: string | false): void
  /** Calls the listener after each change. */
  onChange(listener: () => void): void
}

/** The name of a server's only agent. Tasks are stored under it, so it does not follow the card's name. */
export const singleAgentName = 'default'

export function createAgentRegistry(options: AgentsOption & SharedAgentOptions): AgentRegistry {
  const isSingleAgent = options.agents === undefined
  // The server's own options describe a single agent; they stay when the agent is replaced.
  const kept: SharedAgentOptions = options.idempotency === undefined ? {} : { idempotency: options.idempotency }
  const registeredAgents = isSingleAgent
    ? [createRegisteredAgent(singleAgentName, '', 'agent', options)]
    : Object.entries(options.agents).map(([name, given]) => createNamedAgent(name, given, options))
  const [oldest] = registeredAgents
  if (oldest === undefined) throw new ConfigError('agents', 'must contain at least one agent')
  const byName = new Map(registeredAgents.map((registeredAgent) => [registeredAgent.name, registeredAgent]))
  let defaultName: string | false | undefined
  const listeners: (() => void)[] = []
  const onChange = (listener: () => void): void => void listeners.push(listener)
  const registry = { byName, defaultAgent: oldest, names, set, dismiss, retire, makeDefault, onChange }
  if (!isSingleAgent && options.default !== undefined) makeDefault(options.default)
  return registry

  function isActive({ entry }: RegisteredAgent): boolean {
    return entry.isDraining !== true
  }

  function names(): readonly string[] {
    return [...byName.values()].filter(isActive).map(({ name }) => name)
  }

  function updateDefault(): void {
    registry.defaultAgent = defaultName === false ? unnamedAgent() : (firstActive(defaultName) ?? placeholderAgent())
    for (const listener of listeners) listener()
  }

  function firstActive(name: string | undefined): RegisteredAgent | undefined {
    const named = name === undefined ? undefined : byName.get(name)
    return named !== undefined && isActive(named) ? named : [...byName.values()].find(isActive)
  }

  function set(name: string, given: Agent | AgentSettings): RegisteredAgent | undefined {
    if (isSingleAgent && name !== singleAgentName) throw singleAgentError(name)
    if (isSingleAgent) throwConfigError(checkAgentSettings(given, `agents.${name}`))
    const registeredAgent = isSingleAgent
      ? createRegisteredAgent(singleAgentName, '', 'agent', 'agent' in given ? given : { agent: given }, kept)
      : createNamedAgent(name, given, options)
    const before = byName.get(name)
    byName.set(name, registeredAgent)
    updateDefault()
    return before
  }

  function dismiss(name: string): RegisteredAgent | undefined {
    if (isSingleAgent) throw singleAgentError(name)
    const registeredAgent = byName.get(name)
    if (registeredAgent === undefined) return undefined
    // The same object, so that running turns continue with it.
    const entry: { isDraining?: boolean } = registeredAgent.entry
    entry.isDraining = true
    updateDefault()
    return registeredAgent
  }

  function retire(registeredAgent: RegisteredAgent): void {
    // Another agent may have been registered under that name since.
    if (byName.get(registeredAgent.name) === registeredAgent)
      byName.set(registeredAgent.name, retiredAgent(registeredAgent))
  }

  function makeDefault(name: string | false): void {
    const registeredAgent = name === false ? undefined : byName.get(name)
    if (name !== false && (registeredAgent === undefined || !isActive(registeredAgent))) {
      throw new ConfigError('default', 'must be the name of an agent')
    }
    defaultName = name
    updateDefault()
  }
}

function singleAgentError(name: string): ConfigError {
  return new ConfigError(`agents.${name}`, 'this server was created with `agent`: create it with `agents` to add more')
}

// The error for an agent that is not registered. It lists the agents that the caller may see.

/** As many names as a person reads and a gRPC trailer holds. */
const maxNames = 50

export function agentNotFoundError(name: string, known: readonly string[]): A2AError {
  return notFoundError(`No agent named ${name}`, known, { agent: name })
}

/** The request names no agent: there is no default agent, or its URL has lost the name of an agent. */
export function unnamedAgentError(hasDefault: boolean, known: readonly string[]): A2AError {
  const text = hasDefault
    ? 'The URL names no agent: end the URL of an agent with a slash'
    : 'No default agent: name an agent'
  return notFoundError(text, known)
}

function notFoundError(
  text: string,
  known: readonly string[],
  details: Readonly<Record<string, string>> = {},
): A2AError {
  const agents = known.slice(0, maxNames).join(', ') + (known.length > maxNames ? ', …' : '')
  const hasNames = agents !== ''
  const message = hasNames ? `${text}. Agents: ${agents}` : text
  return new A2AError('AGENT_NOT_FOUND', message, { ...details, ...(hasNames ? { agents } : {}) })
}
