/** Groups tasks into conversations by agent and context, newest first. */
import type { TaskSummary } from '../../api/admin.ts'

export interface RecentConversation {
  readonly agent: string
  readonly contextId: string
  /** The newest task, which the user continues. */
  readonly taskId: string
  readonly title: string
  readonly state: string
  readonly at: string
  readonly tasks: number
}

export function recentConversations(tasks: readonly TaskSummary[]): readonly RecentConversation[] {
  const groups = new Map<string, TaskSummary[]>()
  for (const task of tasks) {
    const key = `${task.agent} ${task.contextId}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [task])
    else group.push(task)
  }
  return [...groups.values()].map((group) => {
    const newest = group.reduce((one, other) => (other.createdAt > one.createdAt ? other : one))
    const oldest = group.reduce((one, other) => (other.createdAt < one.createdAt ? other : one))
    return {
      agent: newest.agent,
      contextId: newest.contextId,
      taskId: newest.id,
      title: oldest.title ?? newest.title ?? '',
      state: newest.state,
      at: newest.statusAt,
      tasks: group.length,
    }
  })
}

export function matchesConversation({ agent, title, contextId, taskId }: RecentConversation, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const text = `${agent} ${title} ${contextId} ${taskId}`.toLowerCase()
  return words.every((word) => text.includes(word))
}
