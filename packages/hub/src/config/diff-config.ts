/** Which settings a running hub applies, and what changes from the current configuration to a new one. */
import { isDeepStrictEqual } from 'node:util'
import type { AgentChanges } from '../registry/agent-registry.ts'
import type { ConfigSections, HubConfig } from './hub-config.ts'

/** When a changed setting takes effect: at once, or when the hub starts again. */
export type TakesEffect = 'live' | 'restart'

/** A section as a whole, or each of its settings. A section or setting without a line is a type error. */
export type EffectTable = {
  readonly [Section in keyof ConfigSections]-?:
    | TakesEffect
    | { readonly [Setting in keyof ConfigSections[Section]]-?: TakesEffect }
}

export const takesEffect = {
  listen: 'restart',
  store: 'restart',
  publicUrl: 'restart',
  grpcUrl: 'restart',
  card: 'live',
  default: 'live',
  agents: 'live',
  skillBundles: 'live',
  secrets: 'live',
  access: 'live',
  admin: {
    console: 'restart',
    key: 'live',
    previousKeys: 'live',
    oidc: 'restart',
  },
  audit: 'restart',
  limits: {
    perKey: 'live',
    tasksPerDay: 'live',
    perAddress: 'live',
    perAgent: 'live',
    body: 'restart',
    jsonNodes: 'restart',
    fetched: 'restart',
    parts: 'restart',
    tasksPerCaller: 'restart',
    streamsPerCaller: 'restart',
    unsent: 'restart',
    unsentPerCaller: 'restart',
    connections: 'restart',
    connectionsPerAddress: 'restart',
    wait: 'restart',
  },
  routes: 'live',
  delegation: {
    // Other hubs identify this hub by it, and running tasks have already sent it.
    issuer: 'restart',
    maxDepth: 'live',
    budget: 'live',
    trust: 'live',
  },
  health: 'live',
  retention: 'live',
  idempotency: 'restart',
  push: 'restart',
  signing: 'restart',
  cors: 'restart',
  trustProxy: 'restart',
  strict: 'restart',
  mcp: 'restart',
  telemetry: 'restart',
  prices: 'live',
  currency: 'restart',
  profiles: 'restart',
} as const satisfies EffectTable

/** The result of applying a configuration while the hub runs. */
export interface ReloadResult extends AgentChanges {
  /** Changed sections that took effect. */
  readonly applied: readonly string[]
  /** Changes that take effect after a restart. */
  readonly restart: readonly string[]
}

/** Every setting of the table with its full name. */
export const settingEffects: readonly (readonly [name: string, effect: TakesEffect])[] = Object.entries(
  takesEffect,
).flatMap(([section, effect]) =>
  typeof effect === 'string'
    ? [[section, effect] as const]
    : Object.entries(effect).map(([setting, own]) => [`${section}.${setting}`, own] as const),
)

/** What a running hub does with a new configuration. */
export function diffConfig(current: HubConfig, next: HubConfig): ReloadResult {
  const changed = (effect: TakesEffect): readonly string[] =>
    settingEffects
      // Agents are reported by name.
      .filter(([name, own]) => own === effect && name !== 'agents')
      .map(([name]) => name)
      .filter((name) => !isDeepStrictEqual(settingAt(current, name), settingAt(next, name)))
  const applied = new Set(changed('live').map((name) => name.split('.', 1).join()))
  return { ...diffAgents(current, next), applied: [...applied], restart: changed('restart') }
}

/** The new configuration, in which settings that need a restart keep their current values. */
export function applyLive(current: HubConfig, next: HubConfig): HubConfig {
  const merged: Record<string, unknown> = { ...next }
  for (const [section, effect] of Object.entries(takesEffect)) {
    if (effect === 'restart') merged[section] = settingAt(current, section)
    if (typeof effect === 'string') continue
    const fixed = Object.keys(effect).filter((setting) => settingAt(effect, setting) === 'restart')
    const kept = fixed.map((setting) => [setting, settingAt(current, `${section}.${setting}`)])
    merged[section] = { ...(merged[section] as object), ...Object.fromEntries(kept) }
  }
  return merged as unknown as HubConfig
}

function settingAt(config: unknown, name: string): unknown {
  return name.split('.').reduce((part, key) => (part as Record<string, unknown>)[key], config)
}

function diffAgents({ agents: before }: HubConfig, { agents: after }: HubConfig): AgentChanges {
  const has = (agents: object) => (name: string) => Object.hasOwn(agents, name)
  const kept = Object.keys(after).filter(has(before))
  return {
    added: Object.keys(after).filter((name) => !has(before)(name)),
    changed: kept.filter((name) => !isDeepStrictEqual(before[name], after[name])),
    removed: Object.keys(before).filter((name) => !has(after)(name)),
  }
}
