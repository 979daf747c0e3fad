/**
 * A token issuer and its keys: configured, or from the issuer's metadata. The first token triggers the request and not the start,
 * so that a server can start while the issuer is unavailable; the metadata is cached.
 */
import { systemClock } from '../../model/clock.ts'
import type { JSONWebKeySet } from 'jose'
import { A2AError } from '../../model/error.ts'
import type { FetchHandler } from '../http/fetch-adapter.ts'
import { readJsonText } from '../keys/json-response.ts'
import { openVerifyingKeys, type VerifyingKeys } from '../keys/verifying-keys.ts'

export interface IssuerOptions {
  readonly issuer: string
  readonly jwks?: string | URL | JSONWebKeySet
  readonly cooldownMs?: number
  readonly fetch?: FetchHandler
}

export interface Issuer {
  /** Exactly as in tokens. */
  readonly issuer: string
  readonly keys: VerifyingKeys
}

/** Pause after a failed request to the issuer: incoming tokens must not trigger requests at will. */
const pauseMs = 1_000
const timeoutMs = 10_000

export function createIssuer(options: IssuerOptions, now = systemClock.monotonicNow): () => Promise<Issuer> {
  let opened: Promise<Issuer> | undefined
  let pausedUntil = -Infinity
  return async () => {
    if (opened === undefined) {
      if (now() < pausedUntil) throw issuerUnavailable()
      opened = open(options)
      opened.catch(() => {
        opened = undefined
        pausedUntil = now() + pauseMs
      })
    }
    return opened
  }
}

async function open({ issuer, jwks, cooldownMs = 30_000, fetch }: IssuerOptions): Promise<Issuer> {
  if (jwks !== undefined) return { issuer, keys: await openVerifyingKeys({ jwks, cooldownMs, fetch }) }
  const metadata = await discover(issuer, fetch ?? ((request) => globalThis.fetch(request)))
  return { issuer: metadata.issuer, keys: await openVerifyingKeys({ jwks: metadata.jwksUri, cooldownMs, fetch }) }
}

interface IssuerMetadata {
  readonly issuer: string
  readonly jwksUri: string
}

async function discover(issuer: string, fetch: FetchHandler): Promise<IssuerMetadata> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  // OpenID Connect appends its well-known name to the path, RFC 8414 prepends it.
  const places = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
  let cause: unknown
  for (const place of places) {
    try {
      const request = new Request(place, {
        headers: { accept: 'application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      const response = await fetch(request)
      if (!response.ok) throw new Error(`${place} answers ${response.status}`)
      return readMetadata(JSON.parse(await readJsonText(response)), issuer)
    } catch (reason) {
      cause ??= reason
    }
  }
  throw issuerUnavailable(cause)
}

/** Metadata that names another issuer is not trusted for this one; a trailing slash makes no difference. */
function readMetadata(document: unknown, issuer: string): IssuerMetadata {
  const { issuer: named, jwks_uri: jwksUri } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown }
  if (typeof named !== 'string' || withoutTrailingSlash(named) !== withoutTrailingSlash(issuer))
    throw new Error(`the metadata belongs to another issuer than ${issuer}`)
  if (typeof jwksUri !== 'string' || !URL.canParse(jwksUri)) throw new Error('the metadata has no jwks_uri')
  if (issuer.startsWith('https:') && !jwksUri.startsWith('https:')) throw new Error('jwks_uri does not use https')
  return { issuer: named, jwksUri }
}

const withoutTrailingSlash = (url: string): string => url.replace(/\/$/, '')

function issuerUnavailable(cause?: unknown): A2AError {
  return new A2AError('UNAVAILABLE', 'The token issuer is unavailable', {}, { cause })
}
