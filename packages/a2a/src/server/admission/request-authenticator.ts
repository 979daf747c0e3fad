/** Calls the configured `authenticate` function, and converts its result to a caller or one of two errors (B-150, B-151). */
import type { HttpRequest } from '../../bindings/http.ts'
import type { EngineLog } from '../../engine/contract.ts'
import { type Caller, anonymous } from '../../model/caller.ts'
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { RegisteredAgent } from '../agents/registered-agent.ts'
import { ConfigError } from '../config-error.ts'
import type { Authenticate } from '../options.ts'
import { credentialsOf } from './admission.ts'

export interface RequestAuthenticator {
  /** A promise only if `authenticate` returns one. May throw instead. */
  identify(request: HttpRequest, registeredAgent: RegisteredAgent): Caller | Promise<Caller>
  /**
   * The WWW-Authenticate header for an error, if any. A caller that lacks a scope gets one too, because it may obtain another
   * token.
   */
  challenge(error: A2AError, registeredAgent: RegisteredAgent): string | undefined
}

export function createRequestAuthenticator(
  authenticate: Authenticate | undefined,
  log: EngineLog,
): RequestAuthenticator {
  return {
    identify(request, registeredAgent) {
      return authenticate === undefined ? anonymous : authenticateRequest(authenticate, request, registeredAgent, log)
    },
    challenge({ code, details }, { settings }) {
      const own = typeof details.challenge === 'string' ? details.challenge : undefined
      if (code === 'PERMISSION_DENIED') return own === undefined ? undefined : printable(own)
      if (code !== 'UNAUTHENTICATED') return undefined
      const schemes = settings.securitySchemes ?? authenticate?.securitySchemes ?? {}
      return printable(own ?? authenticate?.challenge ?? challengeOf(schemes))
    },
  }
}

/**
 * Without a promise if `authenticate` needs none: the body of the request then goes from Node's parser straight to its reader
 * (`node-body.ts`), which is only possible before the first wait.
 */
function authenticateRequest(
  authenticate: Authenticate,
  request: HttpRequest,
  { name }: RegisteredAgent,
  log: EngineLog,
): Caller | Promise<Caller> {
  let identified: ReturnType<Authenticate>
  try {
    identified = authenticate(credentialsOf(request, name))
  } catch (reason) {
    throw authenticationError(reason, name, log)
  }
  if (!isPromise(identified)) return requireCaller(identified)
  // As one of ours: `then` of another implementation returns a promise that `instanceof` does not recognize.
  return Promise.resolve(identified).then(requireCaller, (reason: unknown) => {
    throw authenticationError(reason, name, log)
  })
}

/** Also a promise of another implementation. */
function isPromise(identified: ReturnType<Authenticate>): identified is Promise<Caller | undefined | null> {
  return typeof identified === 'object' && identified !== null && 'then' in identified
}

function authenticationError(reason: unknown, agent: string, log: EngineLog): A2AError {
  if (reason instanceof A2AError) {
    const { code, cause } = reason
    if (code !== 'INTERNAL' && cause !== undefined) log.warn('authentication failed', { agent, cause })
    return reason
  }
  // Token libraries throw on an invalid token. That is UNAUTHENTICATED, and the caller does not see the message.
  log.warn('authentication failed', { agent, cause: reason })
  return authenticationRequired()
}

function requireCaller(caller: Caller | undefined | null): Caller {
  if (caller === undefined || caller === null) throw authenticationRequired()
  return checkCaller(caller)
}

function authenticationRequired(): A2AError {
  return new A2AError('UNAUTHENTICATED', 'Authentication is required')
}

/**
 * Callers with one id own each other's tasks. A missing id would make all callers one owner, and the id of anonymous callers would
 * expose their tasks: both are errors of the operator, which no caller can fix by logging in.
 */
function checkCaller(caller: Caller): Caller {
  const { id } = caller
  if (typeof id !== 'string' || id === '')
    throw invalidCallerError('returned a caller whose id is not a non-empty string')
  if (id === anonymous.id && caller.anonymous !== true) {
    throw invalidCallerError(`returned a caller with the id '${id}' and without \`anonymous: true\``)
  }
  return caller
}

function invalidCallerError(how: string): A2AError {
  return new A2AError('INTERNAL', 'Internal error', {}, { cause: new ConfigError('authenticate', how) })
}

/** Built from the schemes that the card declares. Schemes without a name in HTTP are omitted. */
function challengeOf(schemes: { readonly [name: string]: SecurityScheme }): string {
  const names = Object.values(schemes).flatMap((scheme) => {
    if ('httpAuthSecurityScheme' in scheme) return [scheme.httpAuthSecurityScheme.scheme]
    return 'oauth2SecurityScheme' in scheme || 'openIdConnectSecurityScheme' in scheme ? ['Bearer'] : []
  })
  const known = [...new Set(names.map((name) => name.charAt(0).toUpperCase() + name.slice(1)))]
  return known.length > 0 ? known.join(', ') : 'Bearer'
}

/** Reduces a value to one line of visible characters, as a header requires. */
function printable(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]/g, '')
}
