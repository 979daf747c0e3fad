/**
 * `/mcp`, loaded with its first request: the MCP libraries build hundreds of schemas when they load, which a hub that no MCP
 * client calls need not wait for at its start.
 */
import type { Fetch } from '@parley/a2a/client'
import type { Middleware } from '@parley/a2a/node'
import type { AgentDirectory } from './directory/agent-directory.ts'
import type { McpEndpoint, McpEndpointDeps } from './http-endpoint.ts'
import { createMcpHttpPolicy } from './http-policy.ts'

export function createLazyMcpEndpoint(deps: McpEndpointDeps): McpEndpoint {
  const { matchesPath } = createMcpHttpPolicy(deps)
  let loading: Promise<McpEndpoint> | undefined

  const load = async (): Promise<McpEndpoint> => (await import('./http-endpoint.ts')).createMcpEndpoint(deps)

  const middleware: Middleware = (request, response) => {
    if (!matchesPath(request)) return false
    loading ??= load()
    loading.then(
      // Nothing listened for a client that disconnected meanwhile.
      (endpoint) => void (response.closed || endpoint.middleware(request, response)),
      (cause: unknown) => {
        deps.log.error('the MCP endpoint could not be loaded', { cause })
        response.destroy()
      },
    )
    return true
  }

  return {
    middleware,
    toolsChanged: () => void loading?.then((endpoint) => endpoint.toolsChanged()).catch(() => {}),
    close: async () => (await loading?.catch(() => undefined))?.close(),
  }
}

/** `createRemoteLookup`, loaded with its first call. */
export function createLazyRemoteLookup(fetch: Fetch): NonNullable<AgentDirectory['remote']> {
  return async (url, signal) => (await import('./directory/client-directory.ts')).createRemoteLookup(fetch)(url, signal)
}
