/**
 * What stands around `/mcp`: which pages of browsers may call it, and how a client that is not known yet finds out where to
 * log in (RFC 9728).
 */
import type { IncomingMessage } from 'node:http'
import type { A2AError } from '@parley/a2a'
import { pathOf } from '../admin/route-request.ts'
import { refusal } from './refusal.ts'

export interface PagesParts {
  /** Where the hub is reached from outside. */
  publicUrl(): string | undefined
  /** Issuers of tokens that are good here. */
  issuers(): readonly string[]
  /** The origins whose pages may call; all with `*`. */
  readonly cors?: readonly string[] | '*' | undefined
}

export interface Pages {
  isOurs(request: IncomingMessage): boolean
  /** What is answered before anybody is asked who they are; nothing if the request is to go on. */
  answer(request: IncomingMessage): Response | undefined
  /** For who is not known, or not well. */
  challenge(error: A2AError): Response
  /** To be added to every answer. */
  headers(request: IncomingMessage): Readonly<Record<string, string>>
}

const home = '/mcp'
const resourcePath = '/.well-known/oauth-protected-resource/mcp'
const allowedHeaders =
  'Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, ' +
  'Traceparent, Tracestate, X-API-Key'
const exposedHeaders = 'Mcp-Session-Id, Retry-After, WWW-Authenticate'

export function createPages({ publicUrl, issuers, cors }: PagesParts): Pages {
  const isInvited = (origin: string): boolean => cors === '*' || cors?.includes(origin) === true

  function headers({ headers: { origin } }: IncomingMessage): Readonly<Record<string, string>> {
    if (cors === undefined) return {}
    if (origin === undefined || !isInvited(origin)) return { vary: 'Origin' }
    return {
      'access-control-allow-origin': cors === '*' ? '*' : origin,
      'access-control-expose-headers': exposedHeaders,
      vary: 'Origin',
    }
  }

  function preflight(): Response {
    const allow = {
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': '600',
    }
    return new Response(null, { status: 204, headers: allow })
  }

  /** Where to log in, for clients that can. */
  function resource(): Response {
    const servers = issuers()
    if (servers.length === 0) return refusal(404, 'There is nobody to log in with here')
    return Response.json({
      resource: `${publicUrl() ?? ''}${home}`,
      authorization_servers: servers,
      bearer_methods_supported: ['header'],
      resource_name: 'Parley',
    })
  }

  return {
    isOurs(request) {
      const path = pathOf(request)
      return path === home || path === `${home}/` || path === resourcePath
    },
    answer(request) {
      const { origin, host } = request.headers
      const { method } = request
      // A page elsewhere must not make a browser call here: what is open to this machine is not open to it.
      if (origin !== undefined && !isInvited(origin) && !isOf(origin, host)) {
        return refusal(403, 'Pages of that origin may not call this server')
      }
      if (method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) return preflight()
      if (pathOf(request) !== resourcePath) return undefined
      return method === 'GET' || method === 'HEAD'
        ? resource()
        : refusal(405, 'This path takes GET', -32_000, { allow: 'GET' })
    },
    challenge({ message, details }) {
      const known = typeof details.challenge === 'string' ? details.challenge : 'Bearer realm="parley"'
      const base = publicUrl()
      const where = base === undefined || issuers().length === 0 ? '' : `, resource_metadata="${base}${resourcePath}"`
      // The parameter is of the first scheme, which is Bearer.
      const challenge = where === '' ? known : `Bearer realm="parley"${where}`
      return refusal(401, message, -32_090, { 'www-authenticate': challenge })
    },
    headers,
  }
}

function isOf(origin: string, host: string | undefined): boolean {
  const scheme = origin.indexOf('://')
  return scheme > 0 && host !== undefined && origin.slice(scheme + 3).toLowerCase() === host.toLowerCase()
}
