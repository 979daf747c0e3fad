/** The agents of the hub, loaded again when one of them or the configuration changes. */
import type { Agent } from './admin.ts'
import { call } from './call.ts'
import { useResource } from './resource.ts'
import type { Resource } from './resource.ts'

export function useAgentList(): Resource<readonly Agent[]> {
  return useResource(
    'agents',
    async (signal) => (await call('listAgents', { signal })).agents,
    ({ type }) => type === 'agent' || type === 'config',
  )
}

/** The agent that examples call: the default agent, else the first; `undefined` until it is known, or if there is none. */
export function useExampleAgent(): Agent | undefined {
  const known = useAgentList().value.value ?? []
  return known.find(({ isDefault }) => isDefault) ?? known[0]
}
