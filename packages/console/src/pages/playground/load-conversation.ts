/** Loads a conversation from the log: its tasks, oldest first, as transcripts. */
import type { Task } from '@parley/a2a'
import type { LogRecord } from '../../api/admin.ts'
import { callAdmin } from '../../api/admin-client.ts'
import { isProblem, Problem } from '../../api/problem.ts'
import { transcriptOf } from '../../conversation/transcript.ts'
import type { Transcript } from '../../conversation/transcript.ts'

/** Limit per task. Beyond it, the task snapshot is shown without its log. */
const maxEvents = 20_000
const page = 1_000

export interface LoadedConversationTask {
  readonly transcript: Transcript
  readonly caller: string
  readonly agent: string
  readonly createdAt: string
}

/** Loads the task first: a log that is read later is never behind it. */
export async function loadTask(taskId: string, signal: AbortSignal): Promise<LoadedConversationTask> {
  const { task, caller, agent, createdAt, head } = await callAdmin('getTask', { params: { taskId }, signal }).catch(
    (reason) => {
      if (!isProblem(reason, 'NOT_FOUND')) throw reason
      throw new Problem(`There is no task ${taskId}.`, { code: 'NOT_FOUND', request: reason.request, cause: reason })
    },
  )
  const events = await loadEvents(taskId, signal)
  return { transcript: transcriptOf(task as unknown as Task, events, head, createdAt), caller, agent, createdAt }
}

async function loadEvents(taskId: string, signal: AbortSignal): Promise<readonly LogRecord[]> {
  const events: LogRecord[] = []
  let after: number | undefined = 0
  while (after !== undefined && events.length < maxEvents) {
    const answer: { readonly events: readonly LogRecord[]; readonly after?: number } = await callAdmin(
      'listTaskEvents',
      {
        params: { taskId },
        query: { limit: page, after },
        signal,
      },
    )
    events.push(...answer.events)
    after = answer.after
  }
  // An incomplete log would show an incomplete conversation.
  return after === undefined ? events : []
}

/** The newest tasks of a conversation. */
export async function loadContext(
  agent: string,
  contextId: string,
  most: number,
  signal: AbortSignal,
): Promise<{ readonly loaded: readonly LoadedConversationTask[]; readonly hasMore: boolean }> {
  const { tasks, before } = await callAdmin('listTasks', { query: { context: contextId, agent, limit: most }, signal })
  const found = await Promise.all(tasks.map(({ id }) => loadTask(id, signal)))
  const loaded = found.sort((one, other) => one.createdAt.localeCompare(other.createdAt))
  return { loaded, hasMore: before !== undefined && tasks.length >= most }
}
