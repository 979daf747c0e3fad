/** The hub's own routes, tried in order before those of the agents, and only for allowed hosts. */
import type { Middleware } from '@parley/a2a/node'

/** The first middleware that takes a request answers it. */
export function composeMiddleware(...fronts: readonly Middleware[]): Middleware {
  return (request, response) => fronts.some((front) => front(request, response))
}

/** A request for a foreign Host is left to the server, which refuses it as it does for agents (DNS rebinding). */
export function restrictHosts(hosts: readonly string[] | undefined, front: Middleware): Middleware {
  if (hosts === undefined) return front
  return (request, response) => hosts.includes(hostnameOf(request.headers.host)) && front(request, response)
}

function hostnameOf(host = ''): string {
  const colon = host.lastIndexOf(':')
  return (colon > host.lastIndexOf(']') ? host.slice(0, colon) : host).toLowerCase()
}
