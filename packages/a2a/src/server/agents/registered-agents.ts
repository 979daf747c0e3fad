/**
 * The agents of a server, which are added and removed while it runs. A lookup returns the agent registered at that moment. A
 * removed agent stays readable until the process ends, so that its tasks can be read.
 */
import { bindingNames } from '../../bindings/protocol-bindings.ts'
import type { AgentEntry, Engine } from '../../engine/contract.ts'
import type { AgentExtension } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { cursorExtension } from '../../model/extension.ts'
import { cursorParams } from '../../model/idempotency.ts'
import { omitUndefined } from '../../model/struct.ts'
import { checkAgent, checkAgentSettings, checkNamedAgent, validateAgentName } from '../check-options.ts'
import { ConfigError } from '../config-error.ts'
import { defaultAgentOptions } from '../defaults.ts'
import { extensionDeclaration, type Extension } from '../extensions/extension.ts'
import { authorityOf } from '../grpc/grpc-authority.ts'
import { throwConfigError } from '../option-checks.ts'
import type { Agent, AgentSettings, AgentsOption, Idempotency, ServerOptions } from '../options.ts'

/** One agent as the server and the engine know it: its name, its path, and what the card and the engine need. */
export interface RegisteredAgent extends AgentEntry {
  readonly name: string
  /** Below the mount prefix: `/a2a/{name}`, or empty for the only agent of a server. */
  readonly path: string
  readonly settings: AgentSettings
  /** As declared in the card. */
  readonly extensions: readonly AgentExtension[]
  /** The same extensions with their hooks. */
  readonly installedExtensions: readonly Extension[]
  readonly declared: ReadonlySet<string>
  readonly required: readonly string[]
  /** When the agent was registered, with all the content of its card. */
  readonly registeredAt: number
  /** No agent of that name is registered. The caller must authenticate all the same: the error must not reveal it (B-153). */
  readonly isAbsent?: true
  /** Placeholder for requests that name no agent where the server has no default agent: they are refused. */
  readonly isUnnamed?: true
  /** The `:authority` of gRPC calls for this agent; see grpc-authority.ts. */
  readonly authority?: string
}

/** Options that apply to all agents of a server. */
type SharedAgentOptions = Pick<
  ServerOptions,
  'extensions' | 'onEvent' | 'transformEvent' | 'omitInterfaces' | 'idempotency'
>

/** Creates one of several agents. Throws ConfigError. */
function createNamedAgent(name: string, given: Agent | AgentSettings, shared: SharedAgentOptions): RegisteredAgent {
  throwConfigError(checkNamedAgent(name, given))
  const settings: AgentSettings = typeof given === 'object' && 'agent' in given ? given : { agent: given }
  return createRegisteredAgent(name, `/a2a/${name}`, `agents.${name}.agent`, { name, ...settings }, shared)
}

function createRegisteredAgent(
  name: string,
  path: string,
  where: string,
  settings: AgentSettings,
  shared: SharedAgentOptions = {},
): RegisteredAgent {
  throwConfigError(checkAgent(settings.agent, where))
  const installedExtensions = mergeExtensions([...(shared.extensions ?? []), ...(settings.extensions ?? [])])
  const idempotencyWindowMs = idempotencyWindowOf(settings.idempotency ?? shared.idempotency)
  const extensions = installedExtensions.map((extension) => declarationOf(extension, idempotencyWindowMs))
  const omitted = settings.omitInterfaces ?? shared.omitInterfaces ?? []
  if (bindingNames.every((binding) => omitted.includes(binding))) {
    const place = settings.omitInterfaces === undefined ? '' : settingsPath(where)
    throw new ConfigError(`${place}omitInterfaces`, 'must leave at least one interface on the card')
  }
  const onEvent = settings.onEvent ?? shared.onEvent
  const transformEvent = settings.transformEvent ?? shared.transformEvent
  return {
    name,
    path,
    settings,
    extensions,
    installedExtensions,
    declared: new Set(extensions.map(({ uri }) => uri)),
    required: extensions.filter(({ required }) => required === true).map(({ uri }) => uri),
    agent: settings.agent,
    inputModes: settings.inputModesRequired === false ? [] : withSkillModes(settings, 'inputModes'),
    outputModes: settings.outputModesRequired === true ? withSkillModes(settings, 'outputModes') : [],
    streaming: settings.streaming ?? true,
    options: { ...defaultAgentOptions, ...definedEngineOptions(settings), idempotencyWindowMs },
    ...omitUndefined({ checkMessage: settings.checkMessage, onEvent, transformEvent }),
    registeredAt: Date.now(),
    ...(path !== '' && settings.grpcUrl !== undefined ? { authority: authorityOf(settings.grpcUrl) } : {}),
  }
}

/** The path of an agent's settings in errors: `agents.weather.` beside `agents.weather.agent`. */
function settingsPath(where: string): string {
  return where.slice(0, -'agent'.length)
}

/**
 * An agent's extension settings override the server's, field by field: an agent may require an extension of the server and keep its
 * hooks.
 */
function mergeExtensions(listed: readonly Extension[]): readonly Extension[] {
  const byUri = new Map<string, Extension>()
  for (const extension of listed) byUri.set(extension.uri, { ...byUri.get(extension.uri), ...extension })
  return [...byUri.values()]
}

/** The agent after all its turns have ended: its tasks stay readable, and the agent function is released. */
function retiredAgent(registeredAgent: RegisteredAgent): RegisteredAgent {
  const { checkMessage: _check, onEvent: _on, transformEvent: _transform, ...rest } = registeredAgent
  return { ...rest, settings: { agent: removedAgent }, agent: removedAgent, isDraining: true }
}

/** Serves requests when all agents are removed; every request fails as not found. Its name is not a valid agent name. */
function placeholderAgent(): RegisteredAgent {
  return retiredAgent(createRegisteredAgent('-', '/a2a/-', 'agent', { agent: removedAgent }))
}

/** Placeholder for the agent of a request that names none and must not get the default agent. */
export function unnamedAgent(): RegisteredAgent {
  return { ...placeholderAgent(), isUnnamed: true }
}

/** Placeholder for an agent that is not registered; `undefined` if the name is not a valid agent name. */
export function absentAgent(name: string): RegisteredAgent | undefined {
  return validateAgentName(name) === undefined ? absentAgentNamed(name) : undefined
}

/** The same for any name, which is not a part of a path. */
export function absentAgentNamed(name: string): RegisteredAgent {
  absentTemplate ??= placeholderAgent()
  return { ...absentTemplate, name, path: `/a2a/${name}`, isAbsent: true }
}
let absentTemplate: RegisteredAgent | undefined

/** Runs turns that another process left, or that were on their way when the agent was removed. */
const removedAgent: Agent = () => ({
  state: 'TASK_STATE_FAILED',
  message: 'The agent is no longer available on this server',
})

function idempotencyWindowOf(idempotency: Idempotency | undefined): number {
  if (idempotency === undefined) return defaultAgentOptions.idempotencyWindowMs
  const windowMs = idempotency === 'off' ? 0 : idempotency.windowMs
  if (Number.isSafeInteger(windowMs) && windowMs >= 0) return windowMs
  throw new ConfigError('idempotency.windowMs', 'must be a whole number of milliseconds, or 0 for no limit')
}

/** A client that reads cursors may rely on the window as well, so the card states it (B-163, B-164). */
function declarationOf(extension: Extension, windowMs: number): AgentExtension {
  const declared = extensionDeclaration(extension)
  if (declared.uri !== cursorExtension) return declared
  return { ...declared, params: { ...declared.params, ...cursorParams(windowMs) } }
}

/** Modes of a skill are modes of its agent. No modes anywhere means that all are accepted. */
function withSkillModes(
  { skills = [], ...settings }: AgentSettings,
  modes: 'inputModes' | 'outputModes',
): readonly string[] {
  const own = settings[modes]
  if (own === undefined) return []
  return [...new Set([...own, ...skills.flatMap((skill) => skill[modes] ?? [])])]
}

/** Every option of the engine: those with a default, and those that are off by default. */
const engineOptions = [
  ...Object.keys(defaultAgentOptions).filter((name) => name !== 'idempotencyWindowMs'),
  'inputTimeout',
  'stateTransitionHistory',
] as readonly (keyof AgentEntry['options'] & keyof AgentSettings)[]

/** The engine's options among the settings, without undefined ones. */
function definedEngineOptions(settings: AgentSettings): Partial<AgentEntry['options']> {
  const given = engineOptions.filter((name) => settings[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, settings[name]]))
}

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
const singleAgentName = 'default'

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
    const running: { isDraining?: boolean } = registeredAgent
    running.isDraining = true
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

function isActive({ isDraining }: RegisteredAgent): boolean {
  return isDraining !== true
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

/** Adds, replaces and removes agents while the server runs. */
export interface HandlerAgents {
  /** The agents that accept messages, in registration order. */
  names(): readonly string[]
  /**
   * Adds an agent, or replaces the one of that name: new turns run with it. Throws ConfigError as at the start. Resolves when no
   * turn runs with the replaced agent any more.
   */
  set(name: string, settings: Agent | AgentSettings): Promise<void>
  /**
   * Removes an agent: it accepts no new tasks. Running tasks continue and can be read, answered and canceled. Resolves when none
   * runs in this process any more. Its tasks stay readable at its address until the process ends.
   */
  remove(name: string): Promise<void>
  /** This agent serves the root from now on. If it is removed, the oldest agent does. `false`: none does. Throws ConfigError. */
  makeDefault(name: string | false): void
}

export function createHandlerAgents(
  registry: AgentRegistry,
  engine: Engine,
  tenants: readonly string[],
): HandlerAgents {
  /** Calls `then` at the moment when nothing runs. */
  async function whenIdle(agent: RegisteredAgent, then?: () => void): Promise<void> {
    for (let work = engine.whenRunsEnd(agent); work !== undefined; work = engine.whenRunsEnd(agent)) await work
    then?.()
  }

  return {
    names: registry.names,
    set(name, settings) {
      if (tenants.includes(name))
        throw new ConfigError(`agents.${name}`, 'is the name of a tenant: choose another name')
      const before = registry.set(name, settings)
      return before === undefined ? Promise.resolve() : whenIdle(before)
    },
    async remove(name) {
      const registeredAgent = registry.dismiss(name)
      if (registeredAgent === undefined) return
      await whenIdle(registeredAgent, () => registry.retire(registeredAgent))
    },
    makeDefault: registry.makeDefault,
  }
}
