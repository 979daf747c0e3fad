/** One agent as the server knows it: its name, where it lives, and what card and engine need to know. */
import type { AgentEntry } from '../engine/contract.ts'
import type { AgentExtension } from '../model/card.ts'
import { cursorExtension } from '../model/extension.ts'
import { cursorParams } from '../model/idempotency.ts'
import { whatIsWrongWithName } from './agent-name.ts'
import { ConfigError } from './config-error.ts'
import type { Binding } from './admission.ts'
import { defaultAgentOptions } from './defaults.ts'
import { declaration, type Extension } from './extension.ts'
import { authorityOf } from './grpc-authority.ts'
import type { Agent, AgentSettings, HouseOptions, Idempotency } from './options.ts'

const bindings: readonly Binding[] = ['JSONRPC', 'HTTP+JSON', 'GRPC']

export interface Resident {
  readonly name: string
  /** Below the mount: `/a2a/{name}`, or nothing for the only agent of a server. */
  readonly path: string
  readonly settings: AgentSettings
  /** In the card. */
  readonly extensions: readonly AgentExtension[]
  /** The same with what they do. */
  readonly registered: readonly Extension[]
  readonly declared: ReadonlySet<string>
  readonly required: readonly string[]
  readonly entry: AgentEntry
  /** When it was settled, with all that its card says. */
  readonly since: number
  /** There is no agent of that name. Who asks for it is asked who they are all the same: a refusal must not tell (B-153). */
  readonly isAbsent?: true
  /** Takes the place of the default agent on a server that has none: requests that name no agent are refused. */
  readonly isNoDefault?: true
  /** The `:authority` of gRPC calls that are for this agent; see grpc-authority.ts. */
  readonly authority?: string
}

/** What may be said once for all agents of a server. */
export type Shared = Pick<HouseOptions, 'extensions' | 'onEvent' | 'transformEvent' | 'omitInterfaces' | 'idempotency'>

/** One of several. Throws ConfigError. */
export function settleNamed(name: string, given: Agent | AgentSettings, shared: Shared): Resident {
  const path = `agents.${name}`
  const wrong = whatIsWrongWithName(name)
  if (wrong !== undefined) throw new ConfigError(path, wrong)
  const settings: AgentSettings = typeof given === 'object' && 'agent' in given ? given : { agent: given }
  return settle(name, `/a2a/${name}`, `${path}.agent`, { name, ...settings }, shared)
}

export function settle(
  name: string,
  path: string,
  where: string,
  settings: AgentSettings,
  shared: Shared = {},
): Resident {
  requireAgent(settings.agent, where)
  const registered = mergeExtensions([...(shared.extensions ?? []), ...(settings.extensions ?? [])])
  const idempotencyWindowMs = windowOf(settings.idempotency ?? shared.idempotency)
  const extensions = registered.map((extension) => declarationOf(extension, idempotencyWindowMs))
  const omitted = settings.omitInterfaces ?? shared.omitInterfaces ?? []
  if (bindings.every((binding) => omitted.includes(binding))) {
    const place = settings.omitInterfaces === undefined ? '' : settingsPath(where)
    throw new ConfigError(`${place}omitInterfaces`, 'leave at least one interface on the card')
  }
  const onEvent = settings.onEvent ?? shared.onEvent
  const transformEvent = settings.transformEvent ?? shared.transformEvent
  return {
    name,
    path,
    settings,
    extensions,
    registered,
    declared: new Set(extensions.map(({ uri }) => uri)),
    required: extensions.filter(({ required }) => required === true).map(({ uri }) => uri),
    entry: {
      agent: settings.agent,
      inputModes: widen(settings, 'inputModes'),
      outputModes: widen(settings, 'outputModes'),
      streaming: settings.streaming ?? true,
      options: { ...defaultAgentOptions, ...defined(settings), idempotencyWindowMs },
      ...(onEvent !== undefined ? { onEvent } : {}),
      ...(transformEvent !== undefined ? { transformEvent } : {}),
    },
    since: Date.now(),
    ...(path !== '' && settings.grpcUrl !== undefined ? { authority: authorityOf(settings.grpcUrl) } : {}),
  }
}

/** Where an agent's settings are, for errors: `agents.weather.` beside `agents.weather.agent`. */
function settingsPath(where: string): string {
  return where.slice(0, -'agent'.length)
}

/**
 * What an agent says of an extension wins over what is said for all, field by field: an agent may require an extension of
 * the server without losing what it does.
 */
function mergeExtensions(listed: readonly Extension[]): readonly Extension[] {
  const byUri = new Map<string, Extension>()
  for (const extension of listed) byUri.set(extension.uri, { ...byUri.get(extension.uri), ...extension })
  return [...byUri.values()]
}

/** The same, when all that it ran has ended: its tasks can be read, and nothing of the agent is held on to. */
export function retired(resident: Resident): Resident {
  const { onEvent: _on, transformEvent: _transform, ...entry } = resident.entry
  return {
    ...resident,
    settings: { agent: notServed },
    entry: { ...entry, agent: notServed, isLeaving: true },
  }
}

/** Where all have gone: what is asked of nobody is not there. Its name is one that nobody can have. */
export function nobody(): Resident {
  return retired(settle('-', '/a2a/-', 'agent', { agent: notServed }))
}

/** In the place of the default agent, where there is none. */
export function noDefault(): Resident {
  return { ...nobody(), isNoDefault: true }
}

/** In the place of an agent that there is not; nothing for what cannot be the name of one. */
export function absent(name: string): Resident | undefined {
  if (whatIsWrongWithName(name) !== undefined) return undefined
  template ??= nobody()
  return { ...template, name, path: `/a2a/${name}`, isAbsent: true }
}
let template: Resident | undefined

/** For what another process left to us, or what was on its way when the agent went. */
const notServed: Agent = () => ({ state: 'TASK_STATE_FAILED', message: 'The agent is no longer served here' })

function requireAgent(agent: unknown, where: string): void {
  const run = typeof agent === 'object' && agent !== null && 'run' in agent ? agent.run : agent
  if (typeof run !== 'function') throw new ConfigError(where, 'give a function, or an object with resume and run')
}

function windowOf(idempotency: Idempotency | undefined): number {
  if (idempotency === undefined) return defaultAgentOptions.idempotencyWindowMs
  const windowMs = idempotency === 'off' ? 0 : idempotency.windowMs
  if (Number.isSafeInteger(windowMs) && windowMs >= 0) return windowMs
  throw new ConfigError('idempotency.windowMs', 'give a whole number of milliseconds, or 0 for none')
}

/** A client that reads cursors may rely on the window as well, so the card states it (B-163, B-164). */
function declarationOf(extension: Extension, windowMs: number): AgentExtension {
  const declared = declaration(extension)
  if (declared.uri !== cursorExtension) return declared
  return { ...declared, params: { ...declared.params, ...cursorParams(windowMs) } }
}

/** What a skill takes or gives is taken or given by its agent. Nothing said anywhere means anything goes. */
function widen({ skills = [], ...settings }: AgentSettings, modes: 'inputModes' | 'outputModes'): readonly string[] {
  const own = settings[modes]
  if (own === undefined) return []
  return [...new Set([...own, ...skills.flatMap((skill) => skill[modes] ?? [])])]
}

/** Every option of the engine: those that have a default, and those that are off. */
const engineOptions = [
  ...Object.keys(defaultAgentOptions).filter((name) => name !== 'idempotencyWindowMs'),
  'inputTimeout',
  'stateTransitionHistory',
] as readonly (keyof AgentEntry['options'] & keyof AgentSettings)[]

/** The engine's own options among the settings, without the ones left open. */
function defined(settings: AgentSettings): Partial<AgentEntry['options']> {
  const given = engineOptions.filter((name) => settings[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, settings[name]]))
}
