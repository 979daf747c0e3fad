/**
 * What all agents of the hub share when they hand work on: where a task comes from, whether it may go on, and what other hubs
 * are shown of it. Nothing is opened anywhere before it was asked here.
 */
import { A2AError, delegationExtension as uri } from '@parley/a2a'
import type { AgentCard, AgentLog, Caller, Json, Message, Notes, Turn } from '@parley/a2a'
import type { CallTerms, Extension, MessageAbout, SigningKeys } from '@parley/a2a/server'
import { grantsOf } from '../auth/scopes.ts'
import { createBudget } from './budget.ts'
import { chainIn, checkHop, firstChain, nextChain, placeOf, provenanceOf } from './chain.ts'
import type { Chain } from './chain.ts'
import { narrowed, scopesOnward } from './chain-scopes.ts'
import { makeToken, readToken } from './hop-token.ts'
import type { Identity } from './identity.ts'
import { createTrust } from './trust.ts'
import type { Trust, TrustedHub } from './trust.ts'

export interface DelegationSettings {
  /** What this hub calls itself in tokens. */
  readonly issuer: string | undefined
  readonly maxDepth: number
  readonly tasks: number
  readonly trust: readonly TrustedHub[]
}

export interface DelegationParts {
  readonly settings: DelegationSettings
  readonly identity: Identity
  readonly notes: Notes
  /** When the hub has started. */
  keys(): Promise<SigningKeys>
  /** Whether the caller may use the agent. */
  mayUse(caller: Caller, agent: string): boolean
  readonly fetch: typeof fetch
  readonly log: AgentLog
  readonly now: () => number
}

export interface Hop {
  /** The agent that hands on. */
  readonly from: string
  /** Of the message that does. */
  readonly messageId: string
  readonly deadlineAt?: number | undefined
}

export interface Delegation {
  /** What this hub is called, in tokens and in chains. */
  readonly hub: string
  /** The chain of a task of another agent of this hub, which is about to be opened for the turn. Throws what says why not. */
  hop(turn: Turn, hop: Hop & { readonly to: string }): Promise<Chain>
  /** What to show to an agent elsewhere; nothing if it is of no hub that we trust. Throws what says why it must not be asked. */
  token(turn: Turn, hop: Hop & { readonly card: AgentCard }): Promise<string | undefined>
  /** Whether the agent of this hub is one of those on whose behalf the turn is. */
  isOnTheWay(turn: Turn, agent: string): boolean
  /** By which the agent is told of chains that begin elsewhere. */
  extension(agent: string): Extension
  /** From now on these hold; the name stays what it was. */
  configure(settings: DelegationSettings): void
}

const description = 'Says by when a task has to have ended, and on whose behalf a hub calls'

export function createDelegation(parts: DelegationParts): Delegation {
  const { identity, now } = parts
  const hub = parts.settings.issuer ?? identity.id
  const budget = createBudget(parts.notes, now)
  let settings = parts.settings
  let trust = trustOf(settings)

  function trustOf({ trust: hubs }: DelegationSettings): Trust {
    const own = { issuer: hub, jwks: async () => (await parts.keys()).jwks() }
    return createTrust({ hubs, own, fetch: parts.fetch })
  }

  function chainOf(turn: Turn): Chain {
    const subject = identity.subjectOf(turn.caller.id)
    return chainIn(turn.provenance) ?? firstChain(turn, { subject, hub, tasks: settings.tasks })
  }

  async function next(turn: Turn, to: string, { from, messageId, deadlineAt }: Hop): Promise<Chain> {
    const chain = chainOf(turn)
    const until = Math.min(turn.task.deadlineAt ?? Infinity, deadlineAt ?? Infinity)
    const { maxDepth } = settings
    const order = { from: placeOf(hub, from), to, taskId: turn.task.id, deadlineAt: until, maxDepth, now: now() }
    const made = nextChain(chain, order)
    const left = await budget.take(chain.root, messageId, settings.tasks)
    return { ...made, tasks: Math.min(made.tasks, left) }
  }

  /** What the message says was decided elsewhere: it can only make narrower what its caller may here. */
  async function termsOf(said: Json, message: Message, about: MessageAbout): Promise<CallTerms> {
    const { hop, deadline } = saidIn(said)
    const deadlineAt = deadline === undefined ? undefined : timeOf(deadline, now())
    const chain = hop === undefined ? undefined : await read(hop, message, about)
    if (chain === undefined) return deadlineAt === undefined ? {} : { deadlineAt }
    const until = Math.min(chain.deadlineAt ?? Infinity, deadlineAt ?? Infinity)
    return {
      provenance: provenanceOf(chain),
      ...(until < Infinity ? { deadlineAt: until } : {}),
      ...rightsUnder(chain, about),
    }
  }

  async function read(token: string, message: Message, { agent }: MessageAbout): Promise<Chain> {
    const to = placeOf(hub, agent)
    const { messageId, referenceTaskIds = [] } = message
    const reading = { keysOf: trust.keysOf, audience: to, messageId, referenceTaskIds, now: now() }
    const chain = await readToken(token, reading)
    checkHop(chain, { to, maxDepth: settings.maxDepth, now: now() })
    return chain
  }

  function rightsUnder(
    { scopes: given }: Chain,
    { caller, agent }: MessageAbout,
  ): Pick<CallTerms, 'scopes' | 'skills'> {
    const scopes = narrowed(caller.scopes ?? [], given, hub)
    if (scopes === undefined || !parts.mayUse({ ...caller, scopes }, agent)) {
      throw new A2AError('PERMISSION_DENIED', 'Those on whose behalf this is asked may not do it')
    }
    if (caller.scopes === undefined) return {}
    const grants = grantsOf(scopes)
    const skills = grants.mayUse(agent) ? grants.skillsOf(agent) : undefined
    return { scopes, ...(skills !== undefined ? { skills } : {}) }
  }

  return {
    hub,
    hop: (turn, hop) => next(turn, placeOf(hub, hop.to), hop),
    async token(turn, hop) {
      const audience = audienceIn(hop.card)
      if (audience === undefined || !trust.has(audience.slice(0, audience.lastIndexOf('#')))) return undefined
      const chain = await next(turn, audience, hop)
      const scopes = scopesOnward(chain.scopes, turn.caller.scopes ?? [], hub)
      const order = { issuer: hub, audience, messageId: hop.messageId, now: now() }
      return makeToken({ ...chain, scopes }, order, await (await parts.keys()).signer())
    },
    isOnTheWay: (turn, agent) => chainOf(turn).visited.includes(placeOf(hub, agent)),
    extension: (agent) => ({
      uri,
      description,
      required: false,
      params: { audience: placeOf(hub, agent) },
      onCall: termsOf,
    }),
    configure(wanted) {
      settings = wanted
      trust = trustOf(wanted)
    },
  }
}

/** By which name the agent's hub wants to be addressed, if it takes tokens. */
function audienceIn({ capabilities }: AgentCard): string | undefined {
  const audience = capabilities.extensions?.find((extension) => extension.uri === uri)?.params?.['audience']
  return typeof audience === 'string' && audience.includes('#') ? audience : undefined
}

function saidIn(said: Json): { readonly hop?: string; readonly deadline?: string } {
  // A token that cannot be read may state a limit: it is refused, not ignored.
  if (typeof said !== 'object' || said === null || Array.isArray(said)) throw wrongField('', 'is not an object')
  const { hop, deadline } = said as { readonly hop?: Json; readonly deadline?: Json }
  if (hop !== undefined && typeof hop !== 'string') throw wrongField('.hop', 'is not a string')
  if (deadline !== undefined && typeof deadline !== 'string') throw wrongField('.deadline', 'is not a string')
  return {
    ...(hop !== undefined ? { hop } : {}),
    ...(deadline !== undefined ? { deadline } : {}),
  }
}

function wrongField(name: '' | '.hop' | '.deadline', description: string): A2AError {
  const field = `message.metadata["${uri}"]${name}`
  return new A2AError('INVALID_PARAMS', `Invalid parameters: ${field} ${description}`, {
    violations: [{ field, description }],
  })
}

function timeOf(deadline: string, now: number): number {
  const at = Date.parse(deadline)
  const wrong = Number.isNaN(at) ? 'is no time such as 2026-01-01T12:00:00Z' : at <= now ? 'is over' : undefined
  if (wrong === undefined) return at
  throw wrongField('.deadline', wrong)
}
