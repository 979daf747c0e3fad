/**
 * Who may call this hub, in one piece: what the server is given to ask (`authenticate`, `admit`), what it tells
 * (`onAnswer`, `onEvent`), and the routes by which keys are made and the audit is read. What the configuration says can be
 * changed while it runs.
 */
import type { Caller, Notes } from '@parley/a2a'
import { A2AError } from '@parley/a2a'
import type { Admit, Authenticate, Credentials, EngineLog, FetchHandler, OnAnswer, OnEvent } from '@parley/a2a/server'
import { type AdminParts, createAdminRoutes } from '../admin/routes.ts'
import { type Audit, createAudit } from '../audit/audit.ts'
import { entryOfAnswer } from '../audit/entry.ts'
import { createTaskStates } from '../audit/task-states.ts'
import { createLimiter } from '../limits/limiter.ts'
import { createQuota } from '../limits/quota.ts'
import { openAdminKey } from './admin-key.ts'
import { admit, notForAgent, settle } from './admit.ts'
import { challenge, createAuthenticate } from './authenticate.ts'
import { type CardSecurity, cardSecurity } from './card-security.ts'
import { createTokenCheck } from './jwt.ts'
import { createKeys, type Keys } from './keys.ts'
import { createPasses } from './pass.ts'
import { grantsOf } from './scopes.ts'
import type { AccessSettings } from './settings.ts'

export interface AccessParts extends Pick<AdminParts, 'agents' | 'hasAgent'> {
  readonly notes: Notes
  readonly settings: AccessSettings
  /** Counts instead of the one that is made at the first start. */
  readonly adminKey?: string | undefined
  readonly log: EngineLog
  /** For what issuers publish. Default: the platform's. */
  readonly fetch?: FetchHandler
  /** How long the audit is kept. Default 30 days. */
  readonly auditMs?: number | undefined
  readonly now?: () => number
}

export interface Access {
  readonly authenticate: Authenticate
  readonly admit: Admit
  readonly onAnswer: OnAnswer
  readonly onEvent: OnEvent
  /** The routes of its own: says whether it took the request. */
  readonly front: ReturnType<typeof createAdminRoutes>['front']
  /** The admin key, if it was made just now: to be shown, for nobody can read it later. */
  readonly madeAdminKey?: string
  readonly keys: Keys
  readonly audit: Audit
  /** What the agent's card says of who may call it. */
  security(agent: string): CardSecurity
  /** Whether this caller, as a request or the log names it, may use the agent. */
  mayUse(caller: Caller, agent: string): boolean
  /** Who sends a request that is for no agent in particular. Throws UNAUTHENTICATED for a proof that is not good. */
  identify(credentials: Omit<Credentials, 'agent'>): Promise<Caller>
  /** From now on these hold. */
  configure(settings: AccessSettings): void
  /** Writes what is pending. */
  close(): Promise<void>
}

const usualAuditMs = 30 * 86_400_000

export async function createAccess(parts: AccessParts): Promise<Access> {
  const { notes, log, now = Date.now, fetch } = parts
  const failed = (what: string) => (cause: unknown) => log.warn(`${what} could not be written`, { cause })
  const adminKey = await openAdminKey(notes, parts.adminKey)
  const keys = createKeys({ notes, now, failed: failed('when keys were used') })
  const audit = createAudit({ notes, now, retentionMs: parts.auditMs ?? usualAuditMs, failed: failed('the audit') })
  const passes = createPasses()
  const limiter = createLimiter(now)
  const quota = createQuota(notes, now)
  const states = createTaskStates(audit, now)
  let current = enforce(parts.settings)

  function enforce(settings: AccessSettings) {
    const { jwt, mtls, isOpen, trustProxy } = settings
    const checkToken = createTokenCheck(jwt, fetch)
    const shared = { findKey: keys.find, checkToken, mtls, passes, trustProxy }
    return {
      settings,
      authenticate: createAuthenticate({ ...shared, isOpen }),
      /** For requests that are for no agent: everybody is somebody there. */
      anybody: createAuthenticate({ ...shared, isOpen: () => true }),
    }
  }

  function mayUse({ scopes }: Caller, agent: string): boolean {
    return current.settings.isOpen(agent) || grantsOf(scopes).mayUse(agent)
  }

  const authenticate: Authenticate = Object.assign((credentials: Credentials) => current.authenticate(credentials), {
    challenge,
  })

  const routes = createAdminRoutes({
    ...parts,
    keys,
    audit,
    adminKey,
    limiter,
    now,
    trustsProxy: () => current.settings.trustProxy,
    async identify(credentials) {
      const caller = await current.authenticate(credentials)
      if (caller === undefined || caller === null) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
      if (!mayUse(caller, credentials.agent)) throw notForAgent(credentials)
      return { caller, isByKey: passes.of(caller)?.key !== undefined }
    },
  })

  return {
    authenticate,
    admit(asking) {
      const { rates, isOpen } = current.settings
      return admit(asking, { isOpen, passes, limiter, quota, now, rates })
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
    front: routes.front,
    ...(adminKey.made !== undefined ? { madeAdminKey: adminKey.made } : {}),
    keys,
    audit,
    security(agent) {
      const { jwt, mtls, isOpen } = current.settings
      return cardSecurity(agent, { issuers: jwt.map(({ issuer }) => issuer), mtls, isOpen: isOpen(agent) })
    },
    mayUse,
    async identify(credentials) {
      const caller = await current.anybody({ ...credentials, agent: '' })
      if (caller === undefined || caller === null) throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
      return caller
    },
    configure(settings) {
      current = enforce(settings)
    },
    async close() {
      await keys.close()
      await audit.close()
    },
  }
}
