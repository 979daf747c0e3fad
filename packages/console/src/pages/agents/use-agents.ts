/** The agents, looked at again whenever something about one of them, or about a task, is otherwise. */
import type { Agent } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import type { Change } from '../../api/feed.ts'
import { useResource } from '../../api/resource.ts'
import type { Resource } from '../../api/resource.ts'

export function useAgents(): Resource<readonly Agent[]> {
  return useResource('agents', async (signal) => (await call('listAgents', { signal })).agents, concernsAgents)
}

function concernsAgents({ type }: Change): boolean {
  return type !== 'push'
}

/** What it does now is told by its tasks. */
export function concernsAgent(name: string): (change: Change) => boolean {
  return (change) => {
    if (change.type === 'task') return change.task.agent === name
    if (change.type === 'agent') return change.agent === name
    return change.type === 'config' || change.type === 'tasks'
  }
}
