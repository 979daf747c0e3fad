/**
 * The delegation rules of the hub: where a task comes from, whether it may be delegated, and the token for other hubs. Every
 * delegation is checked here before a task is opened.
 */
import { A2AError, type AgentCard, type AgentLog, type Caller, type Json, type Message, type Turn } from '@parley/a2a'
import { delegationExtension as uri, omitUndefined, type SigningKeys } from '@parley/a2a/internal'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { CallConstraints, Extension, MessageContext } from '@parley/a2a/server'
import { permissionsOf } from '../auth/scopes.ts'
import {
  chainFromProvenance,
  checkHop,
  firstChain,
  nextChain,
  chainAgentId,
  provenanceOf,
  type Chain,
  budgetExceededError,
} from './chain.ts'
import { narrowScopes, onwardScopes } from './chain-scopes.ts'
import { signHopToken, verifyHopToken, type VerifiedHop } from './hop-token.ts'
import type { HubIdentity } from './hub-identity.ts'
import { createLocalJWKSet, createRemoteJWKSet, customFetch, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'

export interface DelegationSettings {
  /** The issuer name of this hub in tokens. */
  readonly issuer: string | undefined
  readonly maxDepth: number
  readonly tasks: number
  readonly trust: readonly TrustedHub[]
}

export interface DelegationDeps {
  readonly settings: DelegationSettings
  readonly identity: HubIdentity
  readonly kv: KeyValueStore
  /** Resolves when the hub has started. */
  keys(): Promise<SigningKeys>
  /** Whether the caller may use the agent. */
  canUse(caller: Caller, agent: string): boolean
  readonly fetch: typeof fetch
  readonly log: AgentLog
  readonly now: () => number
}

export interface HopInfo {
  /** The delegating agent. */
  readonly from: string
  /** The id of the delegating message. */
  readonly messageId: string
  readonly deadlineAt?: number | undefined
}

export interface Delegation {
  /** The name of this hub in tokens and chains. */
  readonly hub: string
  /** The chain of a child task of this hub for the turn. Throws with the reason if it is not permitted. */
  hop(turn: Turn, hop: HopInfo & { readonly to: string }): Promise<Chain>
  /**
   * The token for a remote agent; `undefined` if its hub is not trusted. Throws with the reason if the delegation is not permitted.
   */
  hopToken(turn: Turn, hop: HopInfo & { readonly card: AgentCard }): Promise<string | undefined>
  /** Whether the agent of this hub is in the chain of the turn. */
  isInChain(turn: Turn, agent: string): boolean
  /** The extension by which the agent receives chains from other hubs. */
  extension(agent: string): Extension
  /** Applies new settings; the name does not change. */
  configure(settings: DelegationSettings): void
}

const description = 'Sends the deadline of a task, and on whose behalf a hub calls'

export function createDelegation(parts: DelegationDeps): Delegation {
  const { identity, now } = parts
  const hub = parts.settings.issuer ?? identity.id
  const budget = createTaskBudget(parts.kv, now)
  let settings = parts.settings
  let trust = trustOf(settings)

  function trustOf({ trust: hubs }: DelegationSettings): TrustedHubs {
    const own = { issuer: hub, jwks: async () => (await parts.keys()).jwks() }
    return createTrustedHubs({ hubs, own, fetch: parts.fetch })
  }

  function chainOf(turn: Turn): Chain {
    const subject = identity.subjectOf(turn.caller.id)
    return chainFromProvenance(turn.provenance) ?? firstChain(turn, { subject, hub, tasks: settings.tasks })
  }

  async function next(turn: Turn, to: string, { from, messageId, deadlineAt }: HopInfo): Promise<Chain> {
    const chain = chainOf(turn)
    const until = Math.min(turn.task.deadlineAt ?? Infinity, deadlineAt ?? Infinity)
    const { maxDepth } = settings
    const order = { from: chainAgentId(hub, from), to, taskId: turn.task.id, deadlineAt: until, maxDepth, now: now() }
    const made = nextChain(chain, order)
    const left = await budget.take(chain.root, messageId, settings.tasks)
    return { ...made, tasks: Math.min(made.tasks, left) }
  }

  /** The message states decisions of another hub: they can only narrow what its caller may do here. */
  async function termsOf(said: Json, message: Message, about: MessageContext): Promise<CallConstraints> {
    const { hop, deadline } = parseExtensionValue(said)
    const deadlineAt = deadline === undefined ? undefined : parseDeadline(deadline, now())
    if (hop === undefined) return deadlineAt === undefined ? {} : { deadlineAt }
    const { chain, singleUse } = await read(hop, message, about)
    const until = Math.min(chain.deadlineAt ?? Infinity, deadlineAt ?? Infinity)
    return {
      provenance: provenanceOf(chain),
      ...(until < Infinity ? { deadlineAt: until } : {}),
      ...narrowedRights(chain, about),
      singleUse,
    }
  }

  async function read(token: string, message: Message, { agent }: MessageContext): Promise<VerifiedHop> {
    const to = chainAgentId(hub, agent)
    const { messageId, referenceTaskIds = [] } = message
    const reading = { keysOf: trust.keysOf, audience: to, messageId, referenceTaskIds, now: now() }
    const verified = await verifyHopToken(token, reading)
    checkHop(verified.chain, { to, maxDepth: settings.maxDepth, now: now() })
    return verified
  }

  function narrowedRights(
    { scopes: given }: Chain,
    { caller, agent }: MessageContext,
  ): Pick<CallConstraints, 'scopes' | 'skills'> {
    const scopes = narrowScopes(caller.scopes ?? [], given, hub)
    if (scopes === undefined || !parts.canUse({ ...caller, scopes }, agent)) {
      throw new A2AError('PERMISSION_DENIED', 'The callers on whose behalf this is requested have no permission')
    }
    if (caller.scopes === undefined) return {}
    const grants = permissionsOf(scopes)
    const skills = grants.canUse(agent) ? grants.skillsOf(agent) : undefined
    return { scopes, ...omitUndefined({ skills }) }
  }

  return {
    hub,
    hop: (turn, hop) => next(turn, chainAgentId(hub, hop.to), hop),
    async hopToken(turn, hop) {
      const audience = audienceOf(hop.card)
      if (audience === undefined || !trust.has(audience.slice(0, audience.lastIndexOf('#')))) return undefined
      const chain = await next(turn, audience, hop)
      const scopes = onwardScopes(chain.scopes, turn.caller.scopes ?? [], hub)
      const order = { issuer: hub, audience, messageId: hop.messageId, now: now() }
      return signHopToken({ ...chain, scopes }, order, await (await parts.keys()).signer())
    },
    isInChain: (turn, agent) => chainOf(turn).visited.includes(chainAgentId(hub, agent)),
    extension: (agent) => ({
      uri,
      description,
      required: false,
      params: { audience: chainAgentId(hub, agent) },
      onCall: termsOf,
    }),
    configure(wanted) {
      settings = wanted
      trust = trustOf(wanted)
    },
  }
}

/** The audience name of the agent's hub, if it accepts tokens. */
function audienceOf({ capabilities }: AgentCard): string | undefined {
  const audience = capabilities.extensions?.find((extension) => extension.uri === uri)?.params?.['audience']
  return typeof audience === 'string' && audience.includes('#') ? audience : undefined
}

function parseExtensionValue(said: Json): { readonly hop?: string; readonly deadline?: string } {
  // A token that cannot be read may state a limit: it is refused, not ignored.
  if (typeof said !== 'object' || said === null || Array.isArray(said))
    throw invalidExtensionField('', 'is not an object')
  const { hop, deadline } = said as { readonly hop?: Json; readonly deadline?: Json }
  if (hop !== undefined && typeof hop !== 'string') throw invalidExtensionField('.hop', 'is not a string')
  if (deadline !== undefined && typeof deadline !== 'string')
    throw invalidExtensionField('.deadline', 'is not a string')
  return omitUndefined({ hop, deadline })
}

function invalidExtensionField(name: '' | '.hop' | '.deadline', description: string): A2AError {
  const field = `message.metadata["${uri}"]${name}`
  return new A2AError('INVALID_PARAMS', `Invalid parameters: ${field} ${description}`, {
    violations: [{ field, description }],
  })
}

function parseDeadline(deadline: string, now: number): number {
  const at = Date.parse(deadline)
  const wrong = Number.isNaN(at) ? 'must be a time such as 2026-01-01T12:00:00Z' : at <= now ? 'is over' : undefined
  if (wrong === undefined) return at
  throw invalidExtensionField('.deadline', wrong)
}

/**
 * The task budget of one root request across its whole tree: counted in the key-value store, so that parallel branches, other
 * processes and restarts share it. Each hub counts the tasks that it opens itself.
 */
interface TaskBudget {
  /** Counts one more and returns how many are left. The same hop counts once. Throws if none is left. */
  take(root: string, hopId: string, limit: number): Promise<number>
}

/** Longer than a task may wait for input. */
const retentionMs = 30 * 86_400_000
/** After a restart a repeated hop is counted again, which only makes the budget smaller. */
const maxRemembered = 10_000

function createTaskBudget(kv: KeyValueStore, now: () => number): TaskBudget {
  const counted = new Map<string, Promise<number>>()

  async function count(root: string, limit: number): Promise<number> {
    return limit - (await kv.add('tasks', root, 1, now() + retentionMs))
  }

  return {
    async take(root, hopId, limit) {
      const known = counted.get(hopId)
      const left = known ?? count(root, limit)
      if (known === undefined) {
        counted.set(hopId, left)
        left.catch(() => counted.delete(hopId))
        const [oldest] = counted.keys()
        if (counted.size > maxRemembered && oldest !== undefined) counted.delete(oldest)
      }
      const remaining = await left
      if (remaining < 0) throw budgetExceededError()
      return remaining
    },
  }
}

/** The hubs whose tokens are accepted, and their keys. */
interface TrustedHub {
  /** Its issuer name in tokens. */
  readonly issuer: string
  /** The URL of its keys, or the keys. */
  readonly jwks: string | { readonly keys: readonly object[] }
}

interface TrustedHubs {
  keysOf(issuer: string): JWTVerifyGetKey | undefined
  has(issuer: string): boolean
}

interface TrustedHubsDeps {
  readonly hubs: readonly TrustedHub[]
  /** This hub: its own tokens may come back. */
  readonly own: { readonly issuer: string; jwks(): Promise<{ readonly keys: readonly object[] }> }
  readonly fetch: typeof fetch
}

const timeoutMs = 5_000
/** A hub publishes a key for an hour before it signs with it. */
const cacheMs = 600_000
const cooldownMs = 10_000

function createTrustedHubs({ hubs, own, fetch }: TrustedHubsDeps): TrustedHubs {
  const keys = new Map<string, JWTVerifyGetKey>(hubs.map((hub) => [hub.issuer, keysOf(hub, fetch)]))
  keys.set(own.issuer, async (header, token) => createLocalJWKSet((await own.jwks()) as JSONWebKeySet)(header, token))
  return { keysOf: (issuer) => keys.get(issuer), has: (issuer) => keys.has(issuer) }
}

function keysOf({ jwks }: TrustedHub, fetch: typeof globalThis.fetch): JWTVerifyGetKey {
  if (typeof jwks !== 'string') return createLocalJWKSet(jwks as JSONWebKeySet)
  return createRemoteJWKSet(new URL(jwks), {
    timeoutDuration: timeoutMs,
    cacheMaxAge: cacheMs,
    cooldownDuration: cooldownMs,
    [customFetch]: fetch,
  })
}
