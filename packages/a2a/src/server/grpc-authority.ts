/**
 * Which agent a gRPC call is for by its `:authority`, the name that the client dialed. Clients keep it whatever else they
 * drop: 0.3 has no field for an agent, and some clients of 1.0 do not send the interface's `tenant`.
 */

interface Named {
  readonly name: string
  readonly authority?: string
}

/** In lower case, without a scheme, and without the port of TLS, which proxies and clients leave out at will. */
export function authorityOf(url: string): string {
  return url
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/\/.*$/, '')
    .replace(/:443$/, '')
}

export function agentAt(authority: string | undefined, agents: Iterable<Named>): string | undefined {
  if (authority === undefined) return undefined
  const asked = authorityOf(authority)
  for (const agent of agents) if (agent.authority === asked) return agent.name
  return undefined
}
