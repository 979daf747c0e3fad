/** The hub's own routes, tried in order before those of the agents, and only for allowed hosts. */
import type { Middleware } from '@parley/a2a/node'

/**
 * What may be one of the hub's own paths, in the order in which they are tried. Most requests are messages for agents: they
 * reach none of these modules.
 */
const hubPaths = {
  admin: /^\/admin|\/api-key/,
  console: /^\/(?!a2a\/)/,
  discovery: /^\/(a2a|\.well-known\/ai-catalog\.json)(\?|$)/,
  webhooks: /^\/a2a\/[^/]+\/hooks/,
  metrics: /^\/metrics/,
  simpleTasks: /^\/a2a\/tasks\//,
  chat: /^\/bot-instances\//,
  mcp: /^\/(mcp|\.well-known\/oauth-protected-resource\/mcp)/,
  notFound: /^\/(?!a2a\/)/,
} as const

/** A module without a middleware is disabled. */
export type HubMiddleware = Readonly<Partial<Record<keyof typeof hubPaths, Middleware | undefined>>>

/** The first middleware that takes a request answers it. */
export function composeMiddleware(modules: HubMiddleware): Middleware {
  const routes = Object.entries(hubPaths).flatMap(([name, path]) => {
    const middleware = modules[name as keyof typeof hubPaths]
    return middleware === undefined ? [] : [{ path, middleware }]
  })
  // One test for the requests that reach none of them.
  const anyPath = new RegExp(routes.map(({ path }) => path.source).join('|'))
  return (request, response) => {
    const { url = '' } = request
    return anyPath.test(url) && routes.some(({ path, middleware }) => path.test(url) && middleware(request, response))
  }
}

/** A request for a foreign Host is left to the server, which refuses it as it does for agents (DNS rebinding). */
export function restrictHosts(hosts: readonly string[] | undefined, front: Middleware): Middleware {
  if (hosts === undefined) return front
  // Nearly every request names the same host.
  let last: string | undefined
  let isLastAllowed = hosts.includes(hostnameOf(last))
  return (request, response) => {
    const { host } = request.headers
    if (host !== last) {
      last = host
      isLastAllowed = hosts.includes(hostnameOf(host))
    }
    return isLastAllowed && front(request, response)
  }
}

function hostnameOf(host = ''): string {
  const colon = host.lastIndexOf(':')
  return (colon > host.lastIndexOf(']') ? host.slice(0, colon) : host).toLowerCase()
}
