/**
 * Who issues tokens, and by which keys they are known: given, or as the issuer itself says. It is asked when the first
 * token comes and not before, so that a server can start while it is away; what it said is kept.
 */
import { systemClock } from '../../model/clock.ts'
import type { JSONWebKeySet } from 'jose'
import { A2AError } from '../../model/error.ts'
import type { FetchHandler } from '../fetch.ts'
import { readJsonText } from '../remote-json.ts'
import { openKeys, type VerifyingKeys } from '../verifying-keys.ts'

export interface IssuerOptions {
  readonly issuer: string
  readonly jwks?: string | URL | JSONWebKeySet
  readonly cooldownMs?: number
  readonly fetch?: FetchHandler
}

export interface Issuer {
  /** Letter for letter as it stands in tokens. */
  readonly issuer: string
  readonly keys: VerifyingKeys
}

/** An issuer that did not answer is left alone for a moment: whoever sends tokens must not make us call at will. */
const pauseMs = 1_000
const timeoutMs = 10_000

export function createIssuer(options: IssuerOptions, now = systemClock.monotonicNow): () => Promise<Issuer> {
  let opened: Promise<Issuer> | undefined
  let pausedUntil = -Infinity
  return async () => {
    if (opened === undefined) {
      if (now() < pausedUntil) throw away()
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
  if (jwks !== undefined) return { issuer, keys: await openKeys({ jwks, cooldownMs, fetch }) }
  const metadata = await discover(issuer, fetch ?? ((request) => globalThis.fetch(request)))
  return { issuer: metadata.issuer, keys: await openKeys({ jwks: metadata.jwksUri, cooldownMs, fetch }) }
}

interface Metadata {
  readonly issuer: string
  readonly jwksUri: string
}

async function discover(issuer: string, fetch: FetchHandler): Promise<Metadata> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  // OpenID Connect puts its name behind the path, RFC 8414 before it.
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
  throw away(cause)
}

/** What speaks for another issuer is not to be believed about this one; a slash at the end makes no other of it. */
function readMetadata(document: unknown, issuer: string): Metadata {
  const { issuer: named, jwks_uri: jwksUri } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown }
  if (typeof named !== 'string' || bare(named) !== bare(issuer)) throw new Error(`the metadata are not of ${issuer}`)
  if (typeof jwksUri !== 'string' || !URL.canParse(jwksUri)) throw new Error('the metadata name no jwks_uri')
  if (issuer.startsWith('https:') && !jwksUri.startsWith('https:')) throw new Error('the keys are not behind TLS')
  return { issuer: named, jwksUri }
}

const bare = (url: string): string => url.replace(/\/$/, '')

function away(cause?: unknown): A2AError {
  return new A2AError('UNAVAILABLE', 'The issuer of tokens is not to be had now', {}, { cause })
}
