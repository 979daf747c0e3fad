/**
 * Who may call this hub, in one piece: what the server is given to ask (`authenticate`, `admit`), what it tells
 * (`onAnswer`, `onEvent`), and what the admin API needs to know who may run it. What the configuration says can be changed
 * while it runs.
 */
import type { Caller, Notes } from '@parley/a2a'
import { A2AError } from '@parley/a2a'
import type {
  Admit,
  Authenticate,
  Credentials,
  EngineLog,
  FetchHandler,
  OnAnswer,
  OnEvent,
  OnStream,
  Sealer,
  Signer,
} from '@parley/a2a/server'
import { clockOf } from '@parley/a2a/server'
import { type Audit, createAudit } from '../audit/audit.ts'
import { entryOfAnswer } from '../audit/entry.ts'
import { createTaskStates } from '../audit/task-states.ts'
import { createLimiter, type Limiter } from '../limits/limiter.ts'
import { createQuota } from '../limits/quota.ts'
import { type AdminKey, openAdminKey } from './admin-key.ts'
import { admit, admitWithin, notForAgent, settle } from './admit.ts'
import { challenge, createAuthenticate, type KnownCaller } from './authenticate.ts'
import { type CardSecurity, cardSecurity } from './card-security.ts'
import { createTokenCheck, invalidToken } from './jwt.ts'
import { createGrantStreams, type GrantStreams } from './grant-streams.ts'
import { type Grant, keyGrantId, sessionGrantId } from './grant.ts'
import { createKeys, type Keys } from './keys.ts'
import { createPasses } from './pass.ts'
import { grantsOf } from './scopes.ts'
import type { SessionCheckDeps } from './session-check.ts'
import { createSessions, csrfHeader, type Session, type Sessions } from './session.ts'
import type { AccessSettings } from './settings.ts'

export interface AccessParts {
  readonly notes: Notes
  /** Signs the sessions of the console, and seals the tokens that opened them. */
  secrets(): Promise<Signer & Sealer>
  readonly settings: AccessSettings
  /** Counts instead of the one that is made at the first start. */
  readonly adminKey?: string | undefined
  readonly log: EngineLog
  /** For what issuers publish. Default: the platform's. */
  readonly fetch?: FetchHandler
  /** How long the audit is kept. Default 30 days. */
  readonly auditMs?: number | undefined
  readonly now?: () => number
  readonly monotonicNow?: () => number
}

export interface Access {
  readonly authenticate: Authenticate
  readonly admit: Admit
  readonly onAnswer: OnAnswer
  readonly onEvent: OnEvent
  readonly onStream: OnStream
  /** Streams of the hub's own, which end with the grant that opened them. */
  readonly streams: GrantStreams
  /** The admin key, if it was made just now: to be shown, for nobody can read it later. */
  readonly madeAdminKey?: string
  readonly keys: Keys
  readonly audit: Audit
  readonly adminKey: AdminKey
  readonly sessions: Sessions
  readonly limiter: Limiter
  /** Whether X-Forwarded-For is believed. */
  trustsProxy(): boolean
  /** What the agent's card says of who may call it. */
  security(agent: string): CardSecurity
  /** Counts a call of the agent by another of this hub. Throws RATE_LIMITED. */
  admitWithin(agent: string): void
  /** Whether this caller, as a request or the log names it, may use the agent. */
  mayUse(caller: Caller, agent: string): boolean
  /** Who sends a request that is for no agent in particular. Throws UNAUTHENTICATED for a proof that is not good. */
  identify(credentials: Omit<Credentials, 'agent'>): Promise<Caller>
  /** Whose request it is, as for a call of its agent. Throws UNAUTHENTICATED or PERMISSION_DENIED. */
  identifyFor(credentials: Credentials): Promise<Caller>
  /** Whether it is known by an API key. */
  isByKey(caller: Caller): boolean
  /** The grant of this caller, if it can end. */
  grantOf(caller: Caller): Grant | undefined
  grantOfSession(session: Session): Grant
  /** Sets how OpenID Connect sessions are renewed. Until then none is. */
  renewSessionsBy(renew: SessionCheckDeps['renew']): void
  /** From now on these hold. */
  configure(settings: AccessSettings): void
  /** Writes what is pending. */
  close(): Promise<void>
}

/** The SDK's default for tokens. */
const usualToleranceMs = 10_000
const usualAuditMs = 30 * 86_400_000
const scopesOfConsole = ['agent:*']

export async function createAccess(parts: AccessParts): Promise<Access> {
  const { notes, log, fetch } = parts
  const { now, monotonicNow } = clockOf(parts)
  const failed = (what: string) => (cause: unknown) => log.warn(`${what} could not be written`, { cause })
  const adminKey = await openAdminKey(notes, parts.adminKey)
  const streams = createGrantStreams({
    notes,
    now,
    mayUse: (scopes, agent) => mayUse({ id: '', scopes }, agent),
    revoked(grantId) {
      const [sort, id = ''] = grantId.split(':')
      if (sort === 'key') keys.forget(id)
      if (sort === 'session') sessions.forget(id)
    },
    failed: (cause) => log.warn('revoked credentials could not be looked up', { cause }),
  })
  const keys = createKeys({
    notes,
    now,
    monotonicNow,
    failed: failed('when keys were used'),
    revoked: (id) => streams.revoke(keyGrantId(id)),
  })
  const audit = createAudit({ notes, now, retentionMs: parts.auditMs ?? usualAuditMs, failed: failed('the audit') })
  const passes = createPasses()
  const limiter = createLimiter(monotonicNow)
  const quota = createQuota(notes, now)
  const states = createTaskStates(audit, now)
  let renewSession: SessionCheckDeps['renew'] = async () => undefined
  const sessions = createSessions({
    secrets: parts.secrets,
    notes,
    adminMark: adminKey.mark,
    now,
    monotonicNow,
    prove: (token) => checkNow(token, bearing(token)),
    renew: (refreshToken) => renewSession(refreshToken),
    ended: (id) => streams.revoke(sessionGrantId(id)),
    failed: failed('when sessions were used'),
  })
  let current = enforce(parts.settings)

  function enforce(settings: AccessSettings) {
    const { jwt, mtls, isOpen, trustProxy } = settings
    const checkToken = createTokenCheck(jwt, fetch)
    const toleranceMs = Math.max(usualToleranceMs, ...jwt.map(({ clockTolerance = 0 }) => clockTolerance))
    const shared = {
      findKey: keys.find,
      checkToken,
      recheckToken,
      toleranceMs,
      mtls,
      passes,
      trustProxy,
      bySession,
    }
    return {
      settings,
      checkToken,
      authenticate: createAuthenticate({ ...shared, isOpen }),
      /** For requests that are for no agent: everybody is somebody there. */
      anybody: createAuthenticate({ ...shared, isOpen: () => true }),
    }
  }

  /** Whoever runs the hub may try every agent, by a page of the console. */
  async function bySession({ header }: Credentials): Promise<KnownCaller | undefined> {
    const csrf = header(csrfHeader)
    const cookies = header('cookie')
    // Others have headers of that name, too.
    if (csrf === undefined || !sessions.isShown(cookies)) return undefined
    const session = await sessions.read(cookies)
    if (session === undefined || !(await sessions.isMeant(session, csrf))) {
      throw new A2AError('UNAUTHENTICATED', 'The session is over: sign in again')
    }
    const caller = { id: `console|${session.subject}`, scopes: scopesOfConsole }
    return { caller, grant: () => grantOfSession(session) }
  }

  function grantOfSession({ id, grantExpiresAt: expiresAt }: Session): Grant {
    return {
      id: sessionGrantId(id),
      expiresAt,
      async recheck() {
        const session = await sessions.check(id)
        return session === undefined ? undefined : { scopes: scopesOfConsole, expiresAt: session.grantExpiresAt }
      },
    }
  }

  /** By the current configuration. */
  async function checkNow(token: string, credentials: Credentials): Promise<Caller> {
    if (current.checkToken === undefined) throw invalidToken('The token is not valid')
    return current.checkToken(token, credentials)
  }

  async function recheckToken(token: string, credentials: Credentials): Promise<Caller | undefined> {
    try {
      return await checkNow(token, credentials)
    } catch (reason) {
      if (reason instanceof A2AError && reason.code === 'UNAUTHENTICATED') return undefined
      throw reason
    }
  }

  function mayUse({ scopes }: Caller, agent: string): boolean {
    return current.settings.isOpen(agent) || grantsOf(scopes).mayUse(agent)
  }

  const authenticate: Authenticate = Object.assign((credentials: Credentials) => current.authenticate(credentials), {
    challenge,
  })

  return {
    authenticate,
    admit(asking) {
      const { rates, isOpen } = current.settings
      return admit(asking, { isOpen, passes, limiter, quota, now, monotonicNow, rates })
    },
    onAnswer(answered) {
      const pass = answered.caller === undefined ? undefined : passes.of(answered.caller)
      const from = pass?.address ?? answered.remoteAddress
      audit.record(entryOfAnswer(answered, { at: now(), keyId: pass?.key?.id, from }))
      settle(answered, passes).catch((cause: unknown) =>
        log.warn('a count of tasks could not be taken back', { cause }),
      )
    },
    onEvent: states.onEvent,
    onStream({ caller, agent, end }) {
      const grant = passes.of(caller)?.grant?.()
      return grant === undefined ? undefined : streams.add(grant, { agent, end })
    },
    streams,
    ...(adminKey.made !== undefined ? { madeAdminKey: adminKey.made } : {}),
    keys,
    audit,
    adminKey,
    sessions,
    limiter,
    trustsProxy: () => current.settings.trustProxy,
    security(agent) {
      const { jwt, mtls, isOpen } = current.settings
      return cardSecurity(agent, { issuers: jwt.map(({ issuer }) => issuer), mtls, isOpen: isOpen(agent) })
    },
    admitWithin: (agent) => admitWithin(agent, { limiter, rates: current.settings.rates }),
    mayUse,
    async identify(credentials) {
      const caller = await current.anybody({ ...credentials, agent: '' })
      if (caller === undefined || caller === null) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
      return caller
    },
    async identifyFor(credentials) {
      const caller = await current.authenticate(credentials)
      if (caller === undefined || caller === null) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
      if (!mayUse(caller, credentials.agent)) throw notForAgent(credentials)
      return caller
    },
    isByKey: (caller) => passes.of(caller)?.key !== undefined,
    grantOf: (caller) => passes.of(caller)?.grant?.(),
    grantOfSession,
    renewSessionsBy(renew) {
      renewSession = renew
    },
    configure(settings) {
      current = enforce(settings)
      streams.recheck().catch((cause: unknown) => log.warn('open streams could not be checked again', { cause }))
    },
    async close() {
      streams.close()
      await keys.close()
      await sessions.close()
      await audit.close()
    },
  }
}

/** The credentials of a request that has this token and nothing else. */
function bearing(token: string): Credentials {
  const header = (name: string): string | undefined => (name === 'authorization' ? `Bearer ${token}` : undefined)
  return {
    method: 'GET',
    path: '/',
    query: '',
    header,
    agent: '',
    remoteAddress: undefined,
    clientCertificate: undefined,
  }
}
