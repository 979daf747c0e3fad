/** The settings that decide who may call, and how often. */
import type { JwtIssuerConfig } from '../config/sections/access.ts'
import type { HubConfig } from '../config/hub-config.ts'
import type { Rate } from '../config/values.ts'
import type { RateLimits } from './admit-request.ts'

export interface AccessSettings {
  /** Whether the agent may be called without credentials. */
  isAnonymousAllowed(agent: string): boolean
  readonly jwt: readonly JwtIssuerConfig[]
  /** Whether client certificates authenticate callers. */
  readonly mtls: boolean
  readonly rates: RateLimits
  /** Whether X-Forwarded-For is trusted. */
  readonly trustProxy: boolean
}

const minuteMs = 60_000
/** Defaults: enough for well-behaved programs, and a bound for others. */
const defaultPerKey: Rate = { count: 600, windowMs: minuteMs }
const defaultPerAddress: Rate = { count: 120, windowMs: minuteMs }
/** On loopback without `access`, callers do not log in and are all trusted. */
const defaultLoopbackRate: Rate = { count: 60_000, windowMs: minuteMs }

/** Without `access` every caller may use everything: on loopback only, unless the operator starts with `--insecure`. */
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
    isAnonymousAllowed: (agent) => own(agent) ?? (listed === true || listed.has(agent)),
    jwt: access?.jwt ?? [],
    mtls: access?.mtls ?? false,
    rates: {
      perKey: limits.perKey ?? defaultPerKey,
      perAddress: limits.perAddress ?? (access === undefined ? defaultLoopbackRate : defaultPerAddress),
      ...(limits.tasksPerDay !== undefined ? { tasksPerDay: limits.tasksPerDay } : {}),
      perAgent,
    },
    trustProxy,
  }
}
