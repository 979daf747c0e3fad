/** Compares the current configuration with a new one and finds which changes a running hub can apply. */
import { isDeepStrictEqual } from 'node:util'
import type { HubConfig } from './hub-config.ts'

export interface ConfigChanges {
  /** Sections that are fixed when the server starts; they take effect after a restart. */
  readonly restartSections: readonly (keyof HubConfig)[]
  /** Single settings that take effect after a restart. */
  readonly restartSettings: readonly string[]
  /** Sections that take effect at once. */
  readonly applied: readonly string[]
}

/** Sections that are fixed when the server starts. */
const restartSections = [
  'listen',
  'store',
  'publicUrl',
  'grpcUrl',
  'admin',
  'retention',
  'idempotency',
  'push',
  'signing',
  'cors',
  'trustProxy',
  'profiles',
  'mcp',
  'telemetry',
] as const satisfies readonly (keyof HubConfig)[]

const restartLimits = [
  'body',
  'jsonNodes',
  'fetched',
  'parts',
  'tasksPerCaller',
  'streamsPerCaller',
  'unsent',
  'unsentPerCaller',
  'connections',
  'connectionsPerAddress',
  'wait',
] as const
const liveSections = [
  'access',
  'card',
  'default',
  'limits',
  'skillBundles',
  'delegation',
  'routes',
  'health',
  'prices',
] as const

export function diffConfig(current: HubConfig, next: HubConfig): ConfigChanges {
  return {
    restartSections: changedKeys(current, next, restartSections),
    restartSettings: [
      ...changedKeys(current.limits, next.limits, restartLimits).map((name) => `limits.${name}`),
      // Other hubs identify this hub by it, and running tasks have already sent it.
      ...changedKeys(current.delegation, next.delegation, ['issuer']).map((name) => `delegation.${name}`),
    ],
    applied: changedKeys(current, next, liveSections),
  }
}

/** Compares agents by name. */
export function diffAgents({ agents: before }: HubConfig, { agents: after }: HubConfig) {
  const has = (agents: object) => (name: string) => Object.hasOwn(agents, name)
  const kept = Object.keys(after).filter(has(before))
  return {
    added: Object.keys(after).filter((name) => !has(before)(name)),
    changed: kept.filter((name) => !isDeepStrictEqual(before[name], after[name])),
    removed: Object.keys(before).filter((name) => !has(after)(name)),
  }
}

function changedKeys<T extends object, Name extends keyof T>(
  before: T,
  after: T,
  names: readonly Name[],
): readonly Name[] {
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
}
