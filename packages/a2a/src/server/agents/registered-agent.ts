/** One agent as the server knows it: its name, its path, and what the card and the engine need. */
import { omitUndefined } from '../../model/struct.ts'
import { bindingNames } from '../../bindings/protocol-bindings.ts'
import type { AgentEntry } from '../../engine/contract.ts'
import type { AgentExtension } from '../../model/card.ts'
import { cursorExtension } from '../../model/extension.ts'
import { cursorParams } from '../../model/idempotency.ts'
import { validateAgentName } from './agent-name.ts'
import { checkAgent, checkNamedAgent } from '../check-options.ts'
import { ConfigError } from '../config-error.ts'
import { defaultAgentOptions } from '../defaults.ts'
import { extensionDeclaration, type Extension } from '../extensions/extension.ts'
import { authorityOf } from '../grpc/grpc-authority.ts'
import { throwConfigError } from '../option-checks.ts'
import type { Agent, AgentSettings, ServerOptions, Idempotency } from '../options.ts'

export interface RegisteredAgent {
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
  readonly entry: AgentEntry
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
export type SharedAgentOptions = Pick<
  ServerOptions,
  'extensions' | 'onEvent' | 'transformEvent' | 'omitInterfaces' | 'idempotency'
>

/** Creates one of several agents. Throws ConfigError. */
export function createNamedAgent(
  name: string,
  given: Agent | AgentSettings,
  shared: SharedAgentOptions,
): RegisteredAgent {
  throwConfigError(checkNamedAgent(name, given))
  const settings: AgentSettings = typeof given === 'object' && 'agent' in given ? given : { agent: given }
  return createRegisteredAgent(name, `/a2a/${name}`, `agents.${name}.agent`, { name, ...settings }, shared)
}

export function createRegisteredAgent(
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
    entry: {
      agent: settings.agent,
      inputModes: settings.inputModesRequired === false ? [] : withSkillModes(settings, 'inputModes'),
      outputModes: settings.outputModesRequired === true ? withSkillModes(settings, 'outputModes') : [],
      streaming: settings.streaming ?? true,
      options: { ...defaultAgentOptions, ...definedEngineOptions(settings), idempotencyWindowMs },
      ...omitUndefined({ checkMessage: settings.checkMessage, onEvent, transformEvent }),
    },
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
export function retiredAgent(registeredAgent: RegisteredAgent): RegisteredAgent {
  const { checkMessage: _check, onEvent: _on, transformEvent: _transform, ...entry } = registeredAgent.entry
  return {
    ...registeredAgent,
    settings: { agent: removedAgent },
    entry: { ...entry, agent: removedAgent, isDraining: true },
  }
}

/** Serves requests when all agents are removed; every request fails as not found. Its name is not a valid agent name. */
export function placeholderAgent(): RegisteredAgent {
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
