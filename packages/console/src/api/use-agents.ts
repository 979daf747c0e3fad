/** The agents, reloaded when an agent or a task changes. */
import type { Agent } from './admin.ts'
import { callAdmin } from './admin-client.ts'
import type { Change } from './change-feed.ts'
import { useResource } from './resource.ts'
import type { Resource } from './resource.ts'

export function useAgents(): Resource<readonly Agent[]> {
  return useResource('agents', async (signal) => (await callAdmin('listAgents', { signal })).agents, affectsAgentList)
}

function affectsAgentList({ type }: Change): boolean {
  return type !== 'push'
}

/** Includes task changes, because they say what the agent does now. */
export function affectsAgent(name: string): (change: Change) => boolean {
  return (change) => {
    if (change.type === 'task') return change.task.agent === name
    if (change.type === 'agent') return change.agent === name
    return change.type === 'config' || change.type === 'tasks'
  }
}
