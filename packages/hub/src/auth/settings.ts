/** What of the configuration decides who may call, and how often. */
import type { JwtAccess } from '../config/access.ts'
import type { HubConfig } from '../config/config.ts'
import type { Rate } from '../config/values.ts'
import type { Rates } from './admit.ts'

export interface AccessSettings {
  /** Whether the agent may be called without credentials. */
  isOpen(agent: string): boolean
  readonly jwt: readonly JwtAccess[]
  /** Whether certificates of clients prove who calls. */
  readonly mtls: boolean
  readonly rates: Rates
  /** Whether X-Forwarded-For is believed. */
  readonly trustProxy: boolean
}

const minuteMs = 60_000
/** Where nothing is said: enough for programs that behave, and a bound for those that do not. */
const usualPerKey: Rate = { count: 600, windowMs: minuteMs }
const usualPerAddress: Rate = { count: 120, windowMs: minuteMs }
/** On a machine of one's own nobody logs in, and nobody is a stranger. */
const usualAtHome: Rate = { count: 60_000, windowMs: minuteMs }

/** Without `access` everybody may call everything: for this machine, unless whoever starts the hub insists. */
export function accessSettings({
  access,
  limits,
  agents,
  trustProxy,
}: Pick<HubConfig, 'access' | 'limits' | 'agents' | 'trustProxy'>): AccessSettings {
  const own = (agent: string): boolean | undefined =>
    Object.hasOwn(agents, agent) ? agents[agent]?.access.anonymous : undefined
  const listed = access === undefined || access.anonymous === '*' ? true : new Set(access.anonymous)
  const perAgent = new Map<string, Rate>()
  for (const [agent, { rate }] of Object.entries(limits.perAgent)) if (rate !== undefined) perAgent.set(agent, rate)
  for (const [agent, { limits: ownLimits }] of Object.entries(agents)) {
    if (ownLimits.rate !== undefined) perAgent.set(agent, ownLimits.rate)
  }
  return {
    isOpen: (agent) => own(agent) ?? (listed === true || listed.has(agent)),
    jwt: access?.jwt ?? [],
    mtls: access?.mtls ?? false,
    rates: {
      perKey: limits.perKey ?? usualPerKey,
      perAddress: limits.perAddress ?? (access === undefined ? usualAtHome : usualPerAddress),
      ...(limits.tasksPerDay !== undefined ? { tasksPerDay: limits.tasksPerDay } : {}),
      perAgent,
    },
    trustProxy,
  }
}
