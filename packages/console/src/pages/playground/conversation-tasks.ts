/**
 * The tasks of the open conversation, in order, loaded from the log as transcripts. A task that was just sent has an entry before
 * it has an id.
 */
import type { Task } from '@parley/a2a'
import { signal, type ReadonlySignal } from '@preact/signals'
import type { TaskDetail } from '../../api/admin.ts'
import { callAdmin } from '../../api/admin-client.ts'
import { isProblem, Problem } from '../../api/problem.ts'
import { loadTaskEvents } from '../../api/task-events.ts'
import { emptyTranscript, transcriptOf, type Transcript } from '../../conversation/transcript.ts'

export interface ConversationTask {
  readonly key: string
  readonly transcript: Transcript
  /** The caller of the task, if it is not ours. */
  readonly otherCaller: string | undefined
  /** Why it failed, for operators; once its log is loaded. */
  readonly failure: TaskFailureCause | undefined
}

export interface TaskFailureCause {
  readonly cause: string | undefined
  readonly details: string | undefined
}

export interface ConversationTasks {
  readonly list: ReadonlySignal<readonly ConversationTask[]>
  /** The entry of this task. */
  find(taskId: string | undefined): ConversationTask | undefined
  get(key: string): ConversationTask | undefined
  addPending(): ConversationTask
  update(key: string, change: (transcript: Transcript) => Transcript): Transcript
  /** Replaces all entries. */
  replace(loaded: readonly LoadedConversationTask[]): void
  refresh(loaded: LoadedConversationTask): void
}

export function createConversationTasks(currentCaller: () => string): ConversationTasks {
  const shown = signal<readonly ConversationTask[]>([])
  let count = 0
  const newKey = (): string => `slot-${(count += 1)}`
  const slotOf = (
    { transcript, caller, callerName = caller, failure }: LoadedConversationTask,
    key: string,
  ): ConversationTask => ({
    key,
    transcript,
    otherCaller: caller === currentCaller() ? undefined : callerName,
    failure,
  })
  const find: ConversationTasks['find'] = (taskId) =>
    taskId === undefined ? undefined : shown.peek().find(({ transcript }) => transcript.taskId === taskId)

  return {
    list: shown,
    find,
    get: (key) => shown.peek().find((slot) => slot.key === key),
    addPending() {
      const slot = { key: newKey(), transcript: emptyTranscript, otherCaller: undefined, failure: undefined }
      shown.value = [...shown.peek(), slot]
      return slot
    },
    update(key, change) {
      let transcript = emptyTranscript
      shown.value = shown.peek().map((slot) => {
        if (slot.key !== key) return slot
        transcript = change(slot.transcript)
        return { ...slot, transcript }
      })
      return transcript
    },
    replace(loaded) {
      shown.value = loaded.map((one) => slotOf(one, find(one.transcript.taskId)?.key ?? newKey()))
    },
    refresh(loaded) {
      const known = find(loaded.transcript.taskId)
      if (known === undefined) shown.value = [...shown.peek(), slotOf(loaded, newKey())]
      else shown.value = shown.peek().map((slot) => (slot === known ? slotOf(loaded, slot.key) : slot))
    },
  }
}

/** Limit per task. Beyond it, the task snapshot is shown without its log. */
const maxEvents = 20_000

export interface LoadedConversationTask {
  readonly transcript: Transcript
  readonly caller: string
  readonly callerName?: string | undefined
  readonly agent: string
  readonly createdAt: string
  readonly failure: TaskFailureCause | undefined
}

/** Loads the task first: a log that is read later is never behind it. */
export async function loadTask(taskId: string, signal: AbortSignal): Promise<LoadedConversationTask> {
  const detail = await callAdmin('getTask', { params: { taskId }, signal }).catch((reason) => {
    if (!isProblem(reason, 'NOT_FOUND')) throw reason
    const text = `There is no task ${taskId}.`
    throw new Problem(text, { code: 'NOT_FOUND', request: reason.request, cause: reason })
  })
  const { task, caller, callerName, agent, createdAt, head } = detail
  // An incomplete log would show an incomplete conversation.
  const events = (await loadTaskEvents(taskId, { signal, maxEvents })) ?? []
  const transcript = transcriptOf(task as unknown as Task, events, head, createdAt)
  return { transcript, caller, callerName, agent, createdAt, failure: failureOf(detail) }
}

function failureOf({ state, cause, causeDetails }: TaskDetail): TaskFailureCause | undefined {
  if (state !== 'TASK_STATE_FAILED' && state !== 'TASK_STATE_REJECTED') return undefined
  return { cause, details: causeDetails }
}

/** The newest tasks of a conversation; `known` has been loaded just now. */
export async function loadContext(
  agent: string,
  contextId: string,
  most: number,
  signal: AbortSignal,
  known?: LoadedConversationTask,
): Promise<{ readonly loaded: readonly LoadedConversationTask[]; readonly hasMore: boolean }> {
  const { tasks, before } = await callAdmin('listTasks', { query: { context: contextId, agent, limit: most }, signal })
  const found = await Promise.all(
    tasks.map(async ({ id }) => (id === known?.transcript.taskId ? known : loadTask(id, signal))),
  )
  const loaded = found.sort((one, other) => one.createdAt.localeCompare(other.createdAt))
  return { loaded, hasMore: before !== undefined && tasks.length >= most }
}
