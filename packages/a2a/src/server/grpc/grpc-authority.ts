/**
 * Finds the agent of a gRPC call by its `:authority`, the name that the client dialed. Clients keep it even if they drop other
 * fields: 0.3 has no field for an agent, and some clients of 1.0 do not send the interface's `tenant`.
 */

interface NamedAuthority {
  readonly name: string
  readonly authority?: string
}

/**
 * Normalizes a URL or `host:port` to the `:authority` of gRPC calls: lower case, without a scheme, a path, or the port
 * of TLS (443).
 */
export function authorityOf(url: string): string {
  return url
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/\/.*$/, '')
    .replace(/:443$/, '')
}

export function agentByAuthority(authority: string | undefined, agents: Iterable<NamedAuthority>): string | undefined {
  if (authority === undefined) return undefined
  const asked = authorityOf(authority)
  for (const agent of agents) if (agent.authority === asked) return agent.name
  return undefined
}
