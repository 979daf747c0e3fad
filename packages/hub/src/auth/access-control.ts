/**
 * Access control of the hub: the callbacks of the server (`authenticate`, `admit`, `onOutcome`), the audit, and the checks of the
 * admin API. Settings can change at run time.
 */
import { type Caller, A2AError } from '@parley/a2a'
import {
  type Admit,
  type OnOutcome,
  omitUndefined,
  type EngineLog,
  type OnStream,
  type Sealer,
  type Signer,
  clockOf,
} from '@parley/a2a/internal'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { AuthenticatedCall, Authenticate, Call, FetchHandler } from '@parley/a2a/server'
import {
  type AuditedTask,
  type AuditLog,
  createAuditLog,
  createTaskStateAudit,
  requestAuditEntry,
} from '../audit/audit-log.ts'
import { createRateLimiter, type RateLimiter } from '../limits/rate-limiter.ts'
import { createTaskQuota } from '../limits/task-quota.ts'
import { type AdminKey, type AdminKeySettings, openAdminKey } from './admin-key.ts'
import { admitRequest, admitInProcess, agentForbiddenError, settleQuota, type AccessSettings } from './admit-request.ts'
import { challenge, createAuthenticator, identityOf, type IdentifiedCaller } from './authenticate.ts'
import { type CardSecurity, cardSecurity } from './card-security.ts'
import { createTokenCheck, invalidTokenError } from './token-check.ts'
import { createGrantStreams, type GrantStreams, type Grant, keyGrantId, sessionGrantId } from './grant-streams.ts'
import { createApiKeys, type ApiKeys } from './api-keys.ts'
import { permissionsOf } from './scopes.ts'
import { createSignInCodes, type SignInCodes } from './sign-in-codes.ts'
import type { SessionCheckDeps } from './session-check.ts'
import { createConsoleSessions, csrfHeader, type ConsoleSession, type ConsoleSessions } from './console-session.ts'

export interface AccessControlDeps {
  readonly kv: KeyValueStore
  /** Signs the sessions of the console, and encrypts the tokens that opened them. */
  secrets(): Promise<Signer & Sealer>
  readonly settings: AccessSettings
  readonly admin?: AdminKeySettings | undefined
  /** Becomes the admin key if neither the settings nor the store have one. Default: a generated key. */
  readonly firstAdminKey?: string | undefined
  readonly log: EngineLog
  /** For the documents of issuers. Default: the platform's fetch. */
  readonly fetch?: FetchHandler
  /** How long audit entries are kept. Default 30 days. Read for every write: it may change. */
  readonly auditMs?: number | undefined
  /** How long revoked and expired keys are listed. Default 90 days. */
  readonly endedKeysMs?: number | undefined
  /** Whether other processes write to the store. Default true. */
  readonly isShared?: boolean | undefined
  readonly now?: () => number
  readonly monotonicNow?: () => number
}

export interface AccessControl {
  readonly authenticate: Authenticate
  readonly admit: Admit
  readonly onOutcome: OnOutcome
  /** Audits the states of tasks. */
  onTask(task: AuditedTask): void
  readonly onStream: OnStream
  /** The hub's own streams, which end with the grant that opened them. */
  readonly streams: GrantStreams
  /** The admin key, if it was created by this start. Keep it: the store has only its hash. */
  readonly newAdminKey?: string
  readonly keys: ApiKeys
  readonly audit: AuditLog
  readonly adminKey: AdminKey
  readonly sessions: ConsoleSessions
  readonly signInCodes: SignInCodes
  readonly limiter: RateLimiter
  /** Whether X-Forwarded-For is trusted. */
  trustsProxy(): boolean
  /** The security fields of the agent's card. */
  security(agent: string): CardSecurity
  /** Counts a call of the agent by another agent of this hub. Throws RATE_LIMITED. */
  admitInProcess(agent: string): void
  /** Whether this caller, from a request or from the log, may use the agent. */
  canUse(caller: Caller, agent: string): boolean
  /** Authenticates a request that names no agent. Throws UNAUTHENTICATED for invalid credentials. */
  identify(call: Call): Promise<AuthenticatedCall>
  /** Authenticates a request as a call of its agent. Throws UNAUTHENTICATED or PERMISSION_DENIED. */
  identifyFor(call: Call): Promise<AuthenticatedCall>
  /** Whether the call was authenticated by an API key. */
  hasApiKey(call: Call): boolean
  /** The grant of this call, if it can end. */
  grantOf(call: Call): Grant | undefined
  grantOfSession(session: ConsoleSession): Grant
  /** Sets how OpenID Connect sessions are renewed. Until then they are not. */
  setSessionRenewal(renew: SessionCheckDeps['renew']): void
  /** Applies new settings. */
  configure(settings: AccessSettings, admin?: AdminKeySettings): void
  /** Writes pending entries. */
  close(): Promise<void>
}

/** The SDK's default for tokens. */
const defaultToleranceMs = 10_000
export const defaultAuditMs = 30 * 86_400_000
const consoleScopes = ['agent:*']

export async function createAccessControl(parts: AccessControlDeps): Promise<AccessControl> {
  const { kv, log, fetch } = parts
  const { now, monotonicNow } = clockOf(parts)
  const failed = (what: string) => (cause: unknown) => log.warn(`${what} could not be written`, { cause })
  const adminKey = await openAdminKey({
    kv,
    now,
    monotonicNow,
    onEnded: () => recheckStreams(),
    firstKey: parts.firstAdminKey,
    ...(parts.admin !== undefined ? { settings: parts.admin } : {}),
  })
  const streams = createGrantStreams({
    kv,
    now,
    canUse: (scopes, agent) => mayUse({ id: '', scopes }, agent),
    onRevoked(grantId) {
      const [sort, id = ''] = grantId.split(':')
      if (sort === 'key') keys.forget(id)
      if (sort === 'session') sessions.forget(id)
    },
    onError: (cause) => log.warn('revoked credentials could not be read', { cause }),
  })
  const keys = createApiKeys({
    kv,
    now,
    monotonicNow,
    onError: failed('last-used times of keys'),
    onRevoked: (id) => streams.revoke(keyGrantId(id)),
    get endedRetentionMs() {
      return parts.endedKeysMs
    },
  })
  const audit = createAuditLog({
    kv,
    now,
    get retentionMs() {
      return parts.auditMs ?? defaultAuditMs
    },
    isShared: parts.isShared ?? true,
    onError: failed('the audit'),
  })
  const limiter = createRateLimiter(monotonicNow)
  const quota = createTaskQuota(kv, now)
  let renewSession: SessionCheckDeps['renew'] = async () => undefined
  const sessions = createConsoleSessions({
    secrets: parts.secrets,
    kv,
    isAdminMark: adminKey.isMark,
    now,
    monotonicNow,
    prove: (token) => checkCurrentToken(token, bearerCall(token)),
    renew: (refreshToken) => renewSession(refreshToken),
    onEnded: (id) => streams.revoke(sessionGrantId(id)),
    onError: failed('last-used times of sessions'),
  })
  let current = applySettings(parts.settings)

  function applySettings(settings: AccessSettings) {
    const { jwt, mtls, isAnonymousAllowed } = settings
    const checkToken = createTokenCheck(jwt, fetch)
    const toleranceMs = Math.max(defaultToleranceMs, ...jwt.map(({ clockTolerance = 0 }) => clockTolerance))
    const shared = {
      findKey: keys.find,
      findCachedKey: keys.findCached,
      checkToken,
      recheckToken,
      toleranceMs,
      mtls,
      bySession,
      hasSession,
    }
    return {
      settings,
      checkToken,
      authenticate: createAuthenticator({ ...shared, isAnonymousAllowed }),
      /** For requests that name no agent: anonymous access is always allowed there. */
      anybody: createAuthenticator({ ...shared, isAnonymousAllowed: () => true }),
    }
  }

  function recheckStreams(): void {
    streams.recheck().catch((cause: unknown) => log.warn('open streams could not be rechecked', { cause }))
  }

  /** Other clients may send a header of that name, too. */
  function hasSession({ header }: Call): boolean {
    return header(csrfHeader) !== undefined && sessions.hasCookie(header('cookie'))
  }

  /** The operator may call every agent from the console. */
  async function bySession(call: Call): Promise<IdentifiedCaller | undefined> {
    if (!hasSession(call)) return undefined
    const { header } = call
    const session = await sessions.read(header('cookie'))
    if (session === undefined || !(await sessions.verifyCsrf(session, header(csrfHeader)))) {
      throw new A2AError('UNAUTHENTICATED', 'The session has ended: sign in again')
    }
    const caller = { id: `console|${session.subject}`, scopes: consoleScopes }
    return { caller, grant: () => grantOfSession(session) }
  }

  function grantOfSession({ id, grantExpiresAt: expiresAt }: ConsoleSession): Grant {
    return {
      id: sessionGrantId(id),
      expiresAt,
      async recheck() {
        const session = await sessions.check(id)
        return session === undefined ? undefined : { scopes: consoleScopes, expiresAt: session.grantExpiresAt }
      },
    }
  }

  /** Checks against the current configuration. */
  async function checkCurrentToken(token: string, call: Call): Promise<Caller> {
    if (current.checkToken === undefined) throw invalidTokenError('The token is not valid')
    return current.checkToken(token, call)
  }

  async function recheckToken(token: string, call: Call): Promise<Caller | undefined> {
    try {
      return await checkCurrentToken(token, call)
    } catch (reason) {
      if (reason instanceof A2AError && reason.code === 'UNAUTHENTICATED') return undefined
      throw reason
    }
  }

  function mayUse({ scopes }: Caller, agent: string): boolean {
    return current.settings.isAnonymousAllowed(agent) || permissionsOf(scopes).canUse(agent)
  }

  const authenticate: Authenticate = Object.assign((call: Call) => current.authenticate(call), {
    challenge,
  })

  return {
    authenticate,
    admit(call) {
      const { rates, isAnonymousAllowed } = current.settings
      return admitRequest(call, { isAnonymousAllowed, limiter, quota, now, monotonicNow, rates })
    },
    onOutcome(call) {
      audit.record(requestAuditEntry(call, { at: now(), keyId: identityOf(call)?.key?.id }))
      settleQuota(call)?.catch((cause: unknown) => log.warn('a task count could not be decremented', { cause }))
    },
    onTask: createTaskStateAudit(audit, now),
    onStream(call, end) {
      const grant = identityOf(call)?.grant?.()
      return grant === undefined ? undefined : streams.add(grant, { agent: call.agent, end })
    },
    streams,
    ...omitUndefined({ newAdminKey: adminKey.created }),
    keys,
    audit,
    adminKey,
    sessions,
    signInCodes: createSignInCodes({ kv, secrets: parts.secrets, now }),
    limiter,
    trustsProxy: () => current.settings.trustProxy,
    security(agent) {
      const { jwt, mtls, isAnonymousAllowed } = current.settings
      return cardSecurity(agent, {
        issuers: jwt.map(({ issuer }) => issuer),
        mtls,
        isAnonymousAllowed: isAnonymousAllowed(agent),
      })
    },
    admitInProcess: (agent) => admitInProcess(agent, { limiter, rates: current.settings.rates }),
    canUse: mayUse,
    identify: (call) => authenticated({ ...call, agent: '' }, current.anybody),
    async identifyFor(call) {
      const identified = await authenticated(call, current.authenticate)
      if (!mayUse(identified.caller, call.agent)) throw agentForbiddenError(call)
      return identified
    },
    hasApiKey: (call) => identityOf(call)?.key !== undefined,
    grantOf: (call) => identityOf(call)?.grant?.(),
    grantOfSession,
    setSessionRenewal(renew) {
      renewSession = renew
    },
    configure(settings, admin) {
      current = applySettings(settings)
      if (admin !== undefined) adminKey.configure(admin)
      recheckStreams()
    },
    async close() {
      adminKey.close()
      streams.close()
      await keys.close()
      await sessions.close()
      await audit.close()
    },
  }
}

async function authenticated(call: Call, authenticate: Authenticate): Promise<AuthenticatedCall> {
  const caller = await authenticate(call)
  if (caller === undefined || caller === null) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
  return { ...call, caller }
}

/** A call with this token and no other credentials. */
function bearerCall(token: string): Call {
  const header = (name: string): string | undefined => (name === 'authorization' ? `Bearer ${token}` : undefined)
  return { method: 'GET', path: '/', query: '', header, agent: '', endpoint: 'call', binding: 'JSONRPC' }
}
