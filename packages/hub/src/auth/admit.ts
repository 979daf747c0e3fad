/**
 * Whether a call of a known caller may go on: what its scopes permit, how often it may come, how many tasks it may open.
 * Every answer tells where the caller stands (S2-30). Whether it may use the agent is decided by the agent's name alone, and
 * nobody has looked yet whether there is such an agent: a refusal does not tell (B-153).
 */
import { A2AError, type Operation } from '@parley/a2a'
import type { Admission, Answered, Asking, Credentials } from '@parley/a2a/server'
import type { Rate } from '../config/values.ts'
import { senderOf } from '../limits/address.ts'
import type { Standing } from '../limits/gcra.ts'
import type { Claim, Limiter } from '../limits/limiter.ts'
import type { Counted, Quota } from '../limits/quota.ts'
import type { Pass, Passes } from './pass.ts'
import { grantsOf } from './scopes.ts'

export interface Rates {
  /** Of one caller who is known, unless its key says otherwise. */
  readonly perKey?: Rate | undefined
  /** Of one address without credentials. */
  readonly perAddress?: Rate | undefined
  /** New tasks of one key, unless the key says otherwise. */
  readonly tasksPerDay?: number | undefined
  /** Of one agent, all callers together. */
  readonly perAgent: ReadonlyMap<string, Rate>
}

export interface AdmitParts {
  /** Whether the agent may be called without credentials. */
  isOpen(agent: string): boolean
  readonly passes: Passes
  readonly rates: Rates
  readonly limiter: Limiter
  readonly quota: Quota
  readonly now: () => number
  /** The clock of the limiter. */
  readonly monotonicNow: () => number
}

/** Those that may open a task. */
const opening: ReadonlySet<Operation> = new Set<Operation>(['SendMessage', 'SendStreamingMessage'])

export async function admit(asking: Asking, parts: AdmitParts): Promise<Admission> {
  const { caller, operation } = asking
  const pass = parts.passes.of(caller)
  // Not one that we let in: nothing is known of what it may do.
  if (pass === undefined) return { refuse: new A2AError('PERMISSION_DENIED', 'This caller may do nothing here') }
  const refuse = whatIsNotPermitted(asking, parts.isOpen)
  const own = ownClaim(asking, pass, parts.rates)
  // Who may not use the agent neither uses up what others may, nor learns from its limit that it is there.
  const standing = parts.limiter.take(refuse === undefined ? [...own, ...agentClaim(asking, parts.rates)] : own)
  const headers = standing === undefined ? {} : headersOf(standing, resetAtOf(standing, parts))
  if (standing?.isAllowed === false) return { headers, refuse: tooMany(standing) }
  if (refuse !== undefined) return { headers, refuse }
  if (operation === undefined || !opening.has(operation) || pass.key === undefined) return { headers }
  const tasksPerDay = pass.key.tasksPerDay ?? parts.rates.tasksPerDay
  if (tasksPerDay === undefined) return { headers }
  const counted = await parts.quota.count(pass.key.id, tasksPerDay)
  if (!counted.isAllowed) return spent(counted, tasksPerDay, parts.now())
  pass.counted = { ...counted, at: parts.now() }
  return { headers }
}

/** The day's count is of tasks: a call that opened none is taken back from it. */
export async function settle({ outcome, taskId, caller }: Answered, passes: Passes): Promise<void> {
  const counted = caller === undefined ? undefined : passes.of(caller)?.counted
  if (counted === undefined) return
  const opened = outcome === 'OK' && taskId !== undefined && madeAt(taskId) >= counted.at
  if (!opened) await counted.takeBack()
}

/** Ids of tasks tell when they were made (UUIDv7): one that the caller could name beforehand is older than the call. */
function madeAt(taskId: string): number {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(taskId) ?? []
  return high === undefined ? Infinity : Number.parseInt(high + low, 16)
}

function ownClaim({ caller }: Asking, { key, address }: Pass, { perAddress, perKey }: Rates): readonly Claim[] {
  if (caller.anonymous === true) return claim(`address:${senderOf(address)}`, perAddress)
  return claim(key === undefined ? `caller:${caller.id}` : `key:${key.id}`, key?.rate ?? perKey)
}

function agentClaim({ agent }: Asking, { perAgent }: Rates): readonly Claim[] {
  return claim(`agent:${agent}`, perAgent.get(agent))
}

/** A call within the hub: whose it is was asked when it came in, but an agent does no more because others hand work on to it. */
export function admitWithin(agent: string, { limiter, rates }: Pick<AdmitParts, 'limiter' | 'rates'>): void {
  const standing = limiter.take(claim(`agent:${agent}`, rates.perAgent.get(agent)))
  if (standing?.isAllowed === false) throw tooMany(standing)
}

function claim(who: string, rate: Rate | undefined): readonly Claim[] {
  return rate === undefined ? [] : [{ who, rate }]
}

function resetAtOf({ wholeAt }: Standing, { now, monotonicNow }: AdmitParts): number {
  return now() + wholeAt - monotonicNow()
}

/** `resetAt` is wall time. */
function headersOf({ limit, remaining }: Pick<Standing, 'limit' | 'remaining'>, resetAt: number) {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1_000)),
  }
}

function tooMany({ retryAfterMs }: Standing): A2AError {
  return new A2AError('RATE_LIMITED', 'Too many requests', { retryAfterSeconds: seconds(retryAfterMs) })
}

function spent({ resetAt }: Counted, limit: number, now: number): Admission {
  const message = `This key may open ${limit} tasks a day, and has`
  return {
    headers: headersOf({ limit, remaining: 0 }, resetAt),
    refuse: new A2AError('RATE_LIMITED', message, {
      reason: 'QUOTA_EXCEEDED',
      retryAfterSeconds: seconds(resetAt - now),
    }),
  }
}

/** Where everybody may, those who say who they are may, too. */
function whatIsNotPermitted({ agent, caller, operation, credentials }: Asking, isOpen: AdmitParts['isOpen']) {
  const grants = grantsOf(caller.scopes)
  if (!isOpen(agent) && !grants.mayUse(agent)) return notForAgent(credentials)
  if (operation === undefined || caller.anonymous === true || grants.mayDo(operation)) return undefined
  return lacks(`operation:${operation}`)
}

/** Which scope would do is told to those who named the agent themselves: who came to the default one may not know its name. */
export function notForAgent({ agent, path, header }: Credentials): A2AError {
  const isNamed = path === `/a2a/${agent}` || path.startsWith(`/a2a/${agent}/`) || header('x-parley-agent') === agent
  if (isNamed) return lacks(`agent:${agent}`)
  const challenge = 'Bearer error="insufficient_scope"'
  return new A2AError('PERMISSION_DENIED', 'This caller may not use this agent', { challenge })
}

function lacks(scope: string): A2AError {
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`
  return new A2AError('PERMISSION_DENIED', `This needs the scope ${scope}`, { scope, challenge })
}

/** At least one: whoever is told 0 comes again at once. */
function seconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)))
}
