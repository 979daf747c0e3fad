/** What is different between the configuration that holds and one that is wanted, and what of it a running hub can change. */
import { isDeepStrictEqual } from 'node:util'
import type { HubConfig } from './config.ts'

export interface ConfigChanges {
  /** Sections that the server was made with: they hold after a restart. */
  readonly sections: readonly (keyof HubConfig)[]
  /** The same of single settings. */
  readonly bounds: readonly string[]
  /** Sections that hold at once. */
  readonly applied: readonly string[]
}

/** What a server is made with once. */
const needRestart = [
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

const boundsOfServer = [
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
const holdAtOnce = [
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

export function changesBetween(current: HubConfig, wanted: HubConfig): ConfigChanges {
  return {
    sections: differ(current, wanted, needRestart),
    bounds: [
      ...differ(current.limits, wanted.limits, boundsOfServer).map((name) => `limits.${name}`),
      // Others know the hub by it, and what runs has said it.
      ...differ(current.delegation, wanted.delegation, ['issuer']).map((name) => `delegation.${name}`),
    ],
    applied: differ(current, wanted, holdAtOnce),
  }
}

/** By name. */
export function agentChanges({ agents: before }: HubConfig, { agents: after }: HubConfig) {
  const isIn = (agents: object) => (name: string) => Object.hasOwn(agents, name)
  const kept = Object.keys(after).filter(isIn(before))
  return {
    added: Object.keys(after).filter((name) => !isIn(before)(name)),
    changed: kept.filter((name) => !isDeepStrictEqual(before[name], after[name])),
    removed: Object.keys(before).filter((name) => !isIn(after)(name)),
  }
}

function differ<T extends object, Name extends keyof T>(before: T, after: T, names: readonly Name[]): readonly Name[] {
  return names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
}
