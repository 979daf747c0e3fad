/**
 * Decides whether a call of an authenticated caller may proceed: by its scopes, rate limits and task quota. Every response carries
 * the state of the limits (S2-30). Permission to use an agent is decided by the agent's name alone, before it is known whether the
 * agent exists, so a refusal does not reveal that (B-153).
 */
import { A2AError } from '@parley/a2a'
import { type Admit, clientNetwork, type Operation, type AdmissionResult } from '@parley/a2a/internal'
import type { AuthenticatedCall, Call, EndedCall } from '@parley/a2a/server'
import type { Rate } from '../config/values.ts'
import type { RateClaim, RateLimiter, RateLimitStatus } from '../limits/rate-limiter.ts'
import { creatorQuotaId, type QuotaCharge, type TaskQuota } from '../limits/task-quota.ts'
import { identityOf, type RequestIdentity } from './authenticate.ts'
import { creatorOf } from './key-format.ts'
import { permissionsOf } from './scopes.ts'
import type { JwtIssuerConfig } from '../config/sections/access.ts'
import type { HubConfig } from '../config/hub-config.ts'

export interface RateLimits {
  /** Limit of one authenticated caller, unless its key sets another. */
  readonly perKey?: Rate | undefined
  /** Limit of one address without credentials. */
  readonly perAddress?: Rate | undefined
  /** New tasks of one key, unless the key sets another number. */
  readonly tasksPerDay?: number | undefined
  /** Limit of one agent, for all callers together. */
  readonly perAgent: ReadonlyMap<string, Rate>
}

export interface AdmitDeps {
  /** Whether the agent may be called without credentials. */
  isAnonymousAllowed(agent: string): boolean
  readonly rates: RateLimits
  readonly limiter: RateLimiter
  readonly quota: TaskQuota
  readonly now: () => number
  /** The clock of the limiter. */
  readonly monotonicNow: () => number
}

/** Operations that may open a task. */
const taskOpeningOperations: ReadonlySet<Operation> = new Set<Operation>(['SendMessage', 'SendStreamingMessage'])

/** A promise only if the quota of a key must be charged. */
export function admitRequest(call: AuthenticatedCall, parts: AdmitDeps): AdmissionResult | Promise<AdmissionResult> {
  const { agent, operation } = call
  const identity = identityOf(call)
  // Not a caller that we authenticated: its permissions are unknown.
  if (identity === undefined)
    return { refuse: new A2AError('PERMISSION_DENIED', 'The caller has no permissions on this agent') }
  const refuse = permissionError(call, parts.isAnonymousAllowed)
  const claims = callerClaim(call, identity, parts.rates)
  // A caller without permission neither uses up the agent's limit nor learns from it that the agent exists.
  const agentRate = refuse === undefined ? parts.rates.perAgent.get(agent) : undefined
  if (agentRate !== undefined) claims.push({ key: `agent:${agent}`, rate: agentRate })
  const status = parts.limiter.take(claims)
  const headers = status === undefined ? {} : rateLimitHeaders(status, resetAtOf(status, parts))
  if (status?.isAllowed === false) return { headers, refuse: rateLimitError(status) }
  if (refuse !== undefined) return { headers, refuse }
  if (operation === undefined || !taskOpeningOperations.has(operation) || identity.key === undefined) return { headers }
  const { id, tasksPerDay: own } = identity.key
  const tasksPerDay = own ?? parts.rates.tasksPerDay
  if (tasksPerDay === undefined) return { headers }
  const creator = own === undefined ? creatorOf(identity.key) : undefined
  return chargeQuota(identity, creator === undefined ? id : creatorQuotaId(creator), tasksPerDay, headers, parts)
}

async function chargeQuota(
  identity: RequestIdentity,
  quotaId: string,
  tasksPerDay: number,
  headers: Readonly<Record<string, string>>,
  { quota, now }: Pick<AdmitDeps, 'quota' | 'now'>,
): Promise<AdmissionResult> {
  const counted = await quota.charge(quotaId, tasksPerDay)
  if (!counted.isAllowed) return quotaExceeded(counted, tasksPerDay, now())
  identity.quotaCharge = { ...counted, at: now() }
  return { headers }
}

/** The quota counts tasks: a call that opened none is refunded. Most calls were not charged. */
export function settleQuota(call: Pick<EndedCall, 'outcome' | 'taskId' | 'data'>): Promise<void> | undefined {
  const { outcome, taskId } = call
  const counted = identityOf(call)?.quotaCharge
  if (counted === undefined) return undefined
  const opened = outcome === 'OK' && taskId !== undefined && createdAtOf(taskId) >= counted.at
  return opened ? undefined : counted.refund()
}

/** Task ids contain their creation time (UUIDv7): an id that the caller could name beforehand is older than the call. */
function createdAtOf(taskId: string): number {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(taskId) ?? []
  return high === undefined ? Infinity : Number.parseInt(high + low, 16)
}

function callerClaim(
  { caller, clientAddress }: AuthenticatedCall,
  { key }: RequestIdentity,
  { perAddress, perKey }: RateLimits,
): RateClaim[] {
  if (caller.anonymous === true) return claimFor(`address:${clientNetwork(clientAddress)}`, perAddress)
  if (key === undefined) return claimFor(`caller:${caller.id}`, perKey)
  // A caller with twenty keys may not do twenty times as much. A rate of the key itself is a decision of an admin.
  const creator = key.rate === undefined ? creatorOf(key) : undefined
  return claimFor(creator === undefined ? `key:${key.id}` : `caller:${creator}`, key.rate ?? perKey)
}

/** A call inside the hub: its caller was admitted on arrival, but delegation must not exceed the agent's rate limit. */
export function admitInProcess(agent: string, { limiter, rates }: Pick<AdmitDeps, 'limiter' | 'rates'>): void {
  const status = limiter.take(claimFor(`agent:${agent}`, rates.perAgent.get(agent)))
  if (status?.isAllowed === false) throw rateLimitError(status)
}

function claimFor(who: string, rate: Rate | undefined): RateClaim[] {
  return rate === undefined ? [] : [{ key: who, rate }]
}

function resetAtOf({ fullAt }: RateLimitStatus, { now, monotonicNow }: AdmitDeps): number {
  return now() + fullAt - monotonicNow()
}

/** `resetAt` is wall time. */
function rateLimitHeaders({ limit, remaining }: Pick<RateLimitStatus, 'limit' | 'remaining'>, resetAt: number) {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1_000)),
  }
}

function rateLimitError({ retryAfterMs }: RateLimitStatus): A2AError {
  return new A2AError('RATE_LIMITED', 'Too many requests', { retryAfterSeconds: retryAfterText(retryAfterMs) })
}

function quotaExceeded({ resetAt }: QuotaCharge, limit: number, now: number): AdmissionResult {
  const message = `This key has reached its limit of ${limit} tasks per day`
  return {
    headers: rateLimitHeaders({ limit, remaining: 0 }, resetAt),
    refuse: new A2AError('RATE_LIMITED', message, {
      reason: 'QUOTA_EXCEEDED',
      retryAfterSeconds: retryAfterText(resetAt - now),
    }),
  }
}

/** Where anonymous access is allowed, authenticated callers are allowed too. */
function permissionError(call: AuthenticatedCall, isOpen: AdmitDeps['isAnonymousAllowed']): A2AError | undefined {
  const { agent, caller, operation } = call
  const grants = permissionsOf(caller.scopes)
  if (!isOpen(agent) && !grants.canUse(agent)) return agentForbiddenError(call)
  if (operation === undefined || caller.anonymous === true || grants.canPerform(operation)) return undefined
  return missingScopeError(`operation:${operation}`)
}

/** The missing scope is named only if the caller named the agent: a caller of the default agent may not know its name. */
export function agentForbiddenError({ agent, path, header }: Call): A2AError {
  const isNamed = path === `/a2a/${agent}` || path.startsWith(`/a2a/${agent}/`) || header('x-parley-agent') === agent
  if (isNamed) return missingScopeError(`agent:${agent}`)
  const challenge = 'Bearer error="insufficient_scope"'
  return new A2AError('PERMISSION_DENIED', 'The caller has no permission to use this agent', { challenge })
}

function missingScopeError(scope: string): A2AError {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`
  return new A2AError('PERMISSION_DENIED', `Requires the scope ${scope}`, { scope, challenge })
}

/** At least one: a client that reads 0 retries at once. */
function retryAfterText(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)))
}

/** Refuses new work for an agent that is not open. Checked after authorization, so that only permitted callers learn that the agent is unavailable. */
export function withAvailabilityCheck(requireOpen: (agent: string) => void, admit: Admit): Admit {
  const checkOpen = (admission: AdmissionResult, agent: string): AdmissionResult => {
    if (admission.refuse !== undefined) return admission
    try {
      requireOpen(agent)
      return admission
    } catch (reason) {
      return { ...admission, refuse: A2AError.from(reason) }
    }
  }
  return (call) => {
    const { agent, operation } = call
    const admission = admit(call)
    if (operation === undefined || !taskOpeningOperations.has(operation)) return admission
    return admission instanceof Promise ? admission.then((made) => checkOpen(made, agent)) : checkOpen(admission, agent)
  }
}

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
