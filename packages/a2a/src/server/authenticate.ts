/** Asks the given function who calls, and makes of its answer a caller or one of two refusals (B-150, B-151). */
import type { HttpRequest } from '../bindings/http.ts'
import { anonymous, type Caller } from '../model/caller.ts'
import type { SecurityScheme } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { EngineLog } from '../engine/contract.ts'
import { ConfigError } from './config-error.ts'
import { credentialsOf } from './credentials.ts'
import type { Authenticate } from './options.ts'
import type { Resident } from './resident.ts'

export interface Doorkeeper {
  /** A promise only if there is somebody to ask. */
  identify(request: HttpRequest, resident: Resident): Caller | Promise<Caller>
  /** The WWW-Authenticate header that goes with an error, if one does: who is known and lacks a scope may get another token. */
  challenge(error: A2AError, resident: Resident): string | undefined
}

export function createDoorkeeper(authenticate: Authenticate | undefined, log: EngineLog): Doorkeeper {
  return {
    identify(request, resident) {
      return authenticate === undefined ? anonymous : ask(authenticate, request, resident, log)
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

async function ask(
  authenticate: Authenticate,
  request: HttpRequest,
  resident: Resident,
  log: EngineLog,
): Promise<Caller> {
  try {
    const caller = await authenticate(credentialsOf(request, resident.name))
    if (caller !== undefined && caller !== null) return checkCaller(caller)
  } catch (reason) {
    if (reason instanceof A2AError) {
      const { code, cause } = reason
      if (code !== 'INTERNAL' && cause !== undefined) log.warn('authentication failed', { agent: resident.name, cause })
      throw reason
    }
    // Token libraries throw what they think of a token. That is a refusal, and not for the caller to read.
    log.warn('authentication failed', { agent: resident.name, cause: reason })
  }
  throw new A2AError('UNAUTHENTICATED', 'Authentication is required')
}

/**
 * Callers with one id own each other's tasks. An id that is missing would make one owner of all who come, and the id of
 * those without a name would give theirs away: the operator's mistake, which no caller can mend by logging in.
 */
function checkCaller(caller: Caller): Caller {
  const { id } = caller
  if (typeof id !== 'string' || id === '') throw mistaken('answered a caller whose id is not a non-empty string')
  if (id === anonymous.id && caller.anonymous !== true) {
    throw mistaken(`answered a caller with the id '${id}' and without \`anonymous: true\``)
  }
  return caller
}

function mistaken(how: string): A2AError {
  return new A2AError('INTERNAL', 'Internal error', {}, { cause: new ConfigError('authenticate', how) })
}

/** From the schemes that the card declares. Those without a name in HTTP are left out. */
function challengeOf(schemes: { readonly [name: string]: SecurityScheme }): string {
  const names = Object.values(schemes).flatMap((scheme) => {
    if ('httpAuthSecurityScheme' in scheme) return [scheme.httpAuthSecurityScheme.scheme]
    return 'oauth2SecurityScheme' in scheme || 'openIdConnectSecurityScheme' in scheme ? ['Bearer'] : []
  })
  const known = [...new Set(names.map((name) => name.charAt(0).toUpperCase() + name.slice(1)))]
  return known.length > 0 ? known.join(', ') : 'Bearer'
}

/** A header holds one line of visible characters, whatever an error's details hold. */
function printable(value: string): string {
  return value.replaceAll(/[^\x20-\x7e]/g, '')
}
