/**
 * HTTP policy of `/mcp`: which browser origins may call it, and how an unauthenticated client finds the authorization
 * server (RFC 9728).
 */
import type { IncomingMessage } from 'node:http'
import type { A2AError } from '@parley/a2a'
import { requestPath } from '../http/route-request.ts'
import { jsonRpcErrorResponse } from './json-rpc-error.ts'

export interface McpHttpPolicyDeps {
  /** The public URL of the hub. */
  publicUrl(): string | undefined
  /** Issuers whose tokens are accepted. */
  issuers(): readonly string[]
  /** The allowed origins; all with `*`. */
  readonly cors?: readonly string[] | '*' | undefined
}

export interface McpHttpPolicy {
  matchesPath(request: IncomingMessage): boolean
  /** A response before authentication; undefined if the request continues. */
  earlyResponse(request: IncomingMessage): Response | undefined
  /** The response for missing or invalid credentials. */
  challenge(error: A2AError): Response
  /** Headers of every response. */
  headers(request: IncomingMessage): Readonly<Record<string, string>>
}

const endpointPath = '/mcp'
const resourcePath = '/.well-known/oauth-protected-resource/mcp'
const allowedHeaders =
  'Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id, ' +
  'Traceparent, Tracestate, X-API-Key'
const exposedHeaders = 'Mcp-Session-Id, Retry-After, WWW-Authenticate'

export function createMcpHttpPolicy({ publicUrl, issuers, cors }: McpHttpPolicyDeps): McpHttpPolicy {
  const isAllowedOrigin = (origin: string): boolean => cors === '*' || cors?.includes(origin) === true

  function headers({ headers: { origin } }: IncomingMessage): Readonly<Record<string, string>> {
    if (cors === undefined) return {}
    if (origin === undefined || !isAllowedOrigin(origin)) return { vary: 'Origin' }
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

  /** The protected resource metadata, which name the authorization servers. */
  function resource(): Response {
    const servers = issuers()
    if (servers.length === 0) return jsonRpcErrorResponse(404, 'No authorization server is configured')
    return Response.json({
      resource: `${publicUrl() ?? ''}${endpointPath}`,
      authorization_servers: servers,
      bearer_methods_supported: ['header'],
      resource_name: 'Parley',
    })
  }

  return {
    matchesPath(request) {
      const path = requestPath(request)
      return path === endpointPath || path === `${endpointPath}/` || path === resourcePath
    },
    earlyResponse(request) {
      const { origin, host } = request.headers
      const { method } = request
      // A page of another origin must not use a browser to call this server, which may be open to this machine only.
      if (origin !== undefined && !isAllowedOrigin(origin) && !isSameOrigin(origin, host)) {
        return jsonRpcErrorResponse(403, 'Pages of that origin may not call this server')
      }
      if (method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) return preflight()
      if (requestPath(request) !== resourcePath) return undefined
      return method === 'GET' || method === 'HEAD'
        ? resource()
        : jsonRpcErrorResponse(405, 'Method not allowed: use GET', -32_000, { allow: 'GET' })
    },
    challenge({ message, details }) {
      const known = typeof details.challenge === 'string' ? details.challenge : 'Bearer realm="parley"'
      const base = publicUrl()
      const where = base === undefined || issuers().length === 0 ? '' : `, resource_metadata="${base}${resourcePath}"`
      // The parameter belongs to the first scheme, which is Bearer.
      const challenge = where === '' ? known : `Bearer realm="parley"${where}`
      return jsonRpcErrorResponse(401, message, -32_090, { 'www-authenticate': challenge })
    },
    headers,
  }
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  const scheme = origin.indexOf('://')
  return scheme > 0 && host !== undefined && origin.slice(scheme + 3).toLowerCase() === host.toLowerCase()
}
