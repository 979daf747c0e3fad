/** The hub's own routes, one after the other, before those of the agents; and only for who may knock at all. */
import type { Front } from '@parley/a2a/node'

/** The first that takes a request answers it. */
export function oneOf(...fronts: readonly Front[]): Front {
  return (request, response) => fronts.some((front) => front(request, response))
}

/** A request for a Host that is not ours is left to the server, which refuses it as it does for agents (DNS rebinding). */
export function forHosts(hosts: readonly string[] | undefined, front: Front): Front {
  if (hosts === undefined) return front
  return (request, response) => hosts.includes(hostname(request.headers.host)) && front(request, response)
}

function hostname(host = ''): string {
  const colon = host.lastIndexOf(':')
  return (colon > host.lastIndexOf(']') ? host.slice(0, colon) : host).toLowerCase()
}
