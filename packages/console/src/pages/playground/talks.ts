/** What the log holds of a conversation: its tasks, oldest first, each as people read it. */
import type { Task } from '@parley/a2a'
import type { LogRecord } from '../../api/admin.ts'
import { call } from '../../api/call.ts'
import { isProblem, Problem } from '../../api/problem.ts'
import { talkOf } from '../../conversation/talk.ts'
import type { Talk } from '../../conversation/talk.ts'

/** Of one task. Beyond that, the task as it stands has to do. */
const mostEvents = 20_000
const page = 1_000

export interface Loaded {
  readonly talk: Talk
  readonly caller: string
  readonly agent: string
  readonly createdAt: string
}

/** The task first: a log that is read later is never behind it. */
export async function loadTask(taskId: string, signal: AbortSignal): Promise<Loaded> {
  const { task, caller, agent, createdAt, head } = await call('getTask', { params: { taskId }, signal }).catch(
    (reason) => {
      if (!isProblem(reason, 'NOT_FOUND')) throw reason
      throw new Problem(`There is no task ${taskId}.`, { code: 'NOT_FOUND', request: reason.request, cause: reason })
    },
  )
  const events = await loadEvents(taskId, signal)
  return { talk: talkOf(task as unknown as Task, events, head, createdAt), caller, agent, createdAt }
}

async function loadEvents(taskId: string, signal: AbortSignal): Promise<readonly LogRecord[]> {
  const events: LogRecord[] = []
  let after: number | undefined = 0
  while (after !== undefined && events.length < mostEvents) {
    const answer: { readonly events: readonly LogRecord[]; readonly after?: number } = await call('listTaskEvents', {
      params: { taskId },
      query: { limit: page, after },
      signal,
    })
    events.push(...answer.events)
    after = answer.after
  }
  // Half a log would show half of what was said.
  return after === undefined ? events : []
}

/** The newest of a conversation. */
export async function loadContext(
  agent: string,
  contextId: string,
  most: number,
  signal: AbortSignal,
): Promise<{ readonly loaded: readonly Loaded[]; readonly hasMore: boolean }> {
  const { tasks, before } = await call('listTasks', { query: { context: contextId, agent, limit: most }, signal })
  const found = await Promise.all(tasks.map(({ id }) => loadTask(id, signal)))
  const loaded = found.sort((one, other) => one.createdAt.localeCompare(other.createdAt))
  return { loaded, hasMore: before !== undefined && tasks.length >= most }
}
