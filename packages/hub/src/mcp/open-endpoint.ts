/** Opens `/mcp` from the configuration: the agents as tools for MCP clients. */
import { defaultJsonNodes } from '@parley/a2a/internal'
import type { Limits } from '@parley/a2a/server'
import { guardedFetch } from '@parley/a2a/node'
import type { AccessControl } from '../auth/access-control.ts'
import { anonymousAgents } from '../auth/anonymous-agents.ts'
import { endWithGrant } from '../auth/grant-streams.ts'
import type { HubConfig } from '../config/hub-config.ts'
import { agentPermission } from '../delegation/delegation-setup.ts'
import type { AgentRegistry } from '../registry/agent-registry.ts'
import type { McpEndpoint, McpEndpointDeps } from './http-endpoint.ts'
import { createLazyMcpEndpoint, createLazyRemoteLookup } from './lazy-endpoint.ts'

export interface OpenMcpDeps extends Pick<
  McpEndpointDeps,
  'handlerCall' | 'readers' | 'admit' | 'onOutcome' | 'log' | 'monotonicNow'
> {
  /** The configuration of the start. */
  readonly config: HubConfig
  /** The configuration now. */
  current(): HubConfig
  readonly limits: Partial<Limits>
  readonly access: AccessControl
  readonly registry: AgentRegistry
  /** The public URL of the hub. */
  url(): string | undefined
}

/** `undefined` if the configuration disables it. */
export function openMcpEndpoint(deps: OpenMcpDeps): McpEndpoint | undefined {
  const { config, current, limits, access, registry, url, ...shared } = deps
  if (config.mcp === false) return undefined
  const { tools, wait: waitMs, remote } = config.mcp
  const allow = typeof remote === 'object' ? remote.allow : []
  const reach = remote === false ? undefined : createLazyRemoteLookup(guardedFetch({ allowHttp: true, allow }))
  return createLazyMcpEndpoint({
    ...shared,
    settings: { tools, waitMs },
    identify: access.identify,
    endWithGrant(call, response) {
      const grant = access.grantOf(call)
      if (grant !== undefined) endWithGrant(access.streams, grant, response)
    },
    admitted: (caller, agent) => agentPermission(access, caller, agent),
    names: registry.names,
    agentSettings: (agent) => registry.status(agent)?.settings,
    isOpen: (agent) => registry.open(agent) !== undefined,
    url: (agent) => `${url()}/a2a/${agent}`,
    hasOpenAgents: () => anonymousAgents(current()).length > 0,
    // For callers that may use every agent; for anonymous callers only where all callers are anonymous.
    remoteFor: (caller) =>
      access.canUse(caller, '*') && (caller.anonymous !== true || current().access === undefined) ? reach : undefined,
    trustProxy: config.trustProxy,
    bodyBytes: limits.bodyBytes ?? 20_000_000,
    jsonNodes: limits.jsonNodes ?? defaultJsonNodes,
    maxConcurrentCalls: config.limits.streamsPerCaller ?? 2_000,
    publicUrl: url,
    issuers: () => (current().access?.jwt ?? []).map(({ issuer }) => issuer),
    cors: config.cors,
  })
}
