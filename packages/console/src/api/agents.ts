/** The agents, the health of the hub and its numbers of tasks, which several views show at the same time; reloaded when they change. */
import type { Agent, Health } from './admin.ts'
import { callAdmin, type AdminResponse } from './admin-client.ts'
import type { Change } from './change-feed.ts'
import { useSharedResource, type Resource } from './resource.ts'
import { useVisibleInterval } from './use-visible-interval.ts'

const loadAgents = async (signal: AbortSignal): Promise<readonly Agent[]> =>
  (await callAdmin('listAgents', { signal })).agents

/** Reloaded when an agent or the configuration changes. */
export function useAgentList(): Resource<readonly Agent[]> {
  return useSharedResource('agents', loadAgents, ({ type }) => type === 'agent' || type === 'config')
}

/** Time alone changes a state: failures of 15 minutes ago no longer count, and a circuit breaker closes again. */
const reloadMs = 30_000

/** Reloaded when a task changes, too: tasks determine the load and the state of an agent. */
export function useAgentsWithLoad(): Resource<readonly Agent[]> {
  const agents = useSharedResource('agents', loadAgents, ({ type }) => type !== 'push')
  useVisibleInterval(reloadMs, agents.reload)
  return agents
}

/**
 * The agent that examples call: the default agent, otherwise the first. `undefined` until the agents are loaded, or if there are
 * none.
 */
export function useExampleAgent(): Agent | undefined {
  const known = useAgentList().value.value ?? []
  return known.find(({ isDefault }) => isDefault) ?? known[0]
}

/** Includes changes of its tasks, because they determine what the agent does now. */
export function affectsAgent(name: string): (change: Change) => boolean {
  return (change) => {
    if (change.type === 'task') return change.task.agent === name
    if (change.type === 'agent') return change.agent === name
    return change.type === 'config' || change.type === 'tasks'
  }
}

export function useHealth(isAffectedBy: (change: Change) => boolean): Resource<Health> {
  return useSharedResource('health', (signal) => callAdmin('getHealth', { signal }), isAffectedBy)
}

/** The number of tasks in each state. */
export function useTaskCounts(): Resource<AdminResponse<'countTasks'>> {
  return useSharedResource(
    'task-counts',
    (signal) => callAdmin('countTasks', { signal }),
    ({ type }) => type === 'task' || type === 'tasks',
  )
}
