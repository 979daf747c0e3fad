/** The agents of the hub, reloaded when an agent or the configuration changes. */
import type { Agent } from './admin.ts'
import { callAdmin } from './admin-client.ts'
import { useResource } from './resource.ts'
import type { Resource } from './resource.ts'

export function useAgentList(): Resource<readonly Agent[]> {
  return useResource(
    'agents',
    async (signal) => (await callAdmin('listAgents', { signal })).agents,
    ({ type }) => type === 'agent' || type === 'config',
  )
}

/**
 * The agent that examples call: the default agent, otherwise the first. `undefined` until the agents are loaded, or if there are
 * none.
 */
export function useExampleAgent(): Agent | undefined {
  const known = useAgentList().value.value ?? []
  return known.find(({ isDefault }) => isDefault) ?? known[0]
}
