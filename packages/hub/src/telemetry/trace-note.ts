/**
 * What is kept of each task for lists of traces: a note of a few hundred bytes beside the tasks, without a word of what was
 * said. The notes of roots are listed; those below add to the sums of their root, and are told apart by their key.
 */
import { isTerminal, traceIdOfTask } from '@parley/a2a'
import type { Json, Note, NoteWrite, TaskState } from '@parley/a2a'
import type { DelegationContext, TraceStatus, TraceSummary } from './contract.ts'
import type { Sums } from './tally.ts'
import { exchanged, nothing } from './tally.ts'
import type { TaskTrace } from './task-trace.ts'

export interface TraceNote {
  readonly traceId: string
  readonly contextId: string
  readonly agent: string
  readonly caller: string
  readonly tenant: string
  readonly state: TaskState
  readonly messageId: string
  readonly startedAt: number
  readonly endedAt?: number
  readonly error?: string
  readonly delegation?: DelegationContext
  /** The task at the root of its tree in this hub; its own id where that is itself. */
  readonly root: string
  /** Of the last record that it was made from. */
  readonly head: number
  readonly own: Sums
  /** With everything below it. Only of roots. */
  readonly all: Sums
  readonly tasks: number
  readonly agents: readonly string[]
  readonly models: readonly string[]
  readonly tools: readonly string[]
}

/** Of the notes. */
export const traceKind = 'traces'

/** Ids of tasks are ordered by time, so a list of roots is, too. */
export const rootKey = (taskId: string): string => `root/${taskId}`
export const childKey = (taskId: string): string => `child/${taskId}`
/** Found by the trace that a stranger named. */
export const traceKey = (traceId: string, taskId: string): string => `trace/${traceId}/${taskId}`
export const belowKey = (parentId: string, taskId: string): string => `below/${parentId}/${taskId}`

/** So many names of one sort, and tasks, are remembered of one root. */
const mostNames = 20

export function noteIn(note: Note | undefined): TraceNote | undefined {
  return note === undefined ? undefined : (note.value as unknown as TraceNote)
}

/** What is now known of a task. `root` is its own id unless another task of this hub made it. */
export function noteOf(trace: TaskTrace, root: string, before: TraceNote | undefined): TraceNote {
  const { partition, tally, endedAt, error, delegation } = trace
  const own = tally.sums
  const names = { agents: [partition.agent], models: [...tally.models], tools: [...tally.tools] }
  return {
    traceId: trace.traceId,
    contextId: trace.contextId,
    agent: partition.agent,
    caller: partition.owner,
    tenant: partition.tenant,
    state: trace.state,
    messageId: trace.idempotencyKey,
    startedAt: trace.startedAt,
    ...(endedAt !== undefined ? { endedAt } : {}),
    ...(error !== undefined ? { error } : {}),
    ...(delegation !== undefined ? { delegation } : {}),
    root,
    head: trace.head,
    own,
    all: exchanged(before?.all ?? nothing, before?.own ?? nothing, own),
    tasks: before?.tasks ?? 1,
    agents: joined(before?.agents, names.agents),
    models: joined(before?.models, names.models),
    tools: joined(before?.tools, names.tools),
  }
}

/** The root's note with what became of a task below it. */
export function withChild(root: TraceNote, child: TraceNote, before: TraceNote | undefined): TraceNote {
  return {
    ...root,
    all: exchanged(root.all, before?.own ?? nothing, child.own),
    tasks: root.tasks + (before === undefined ? 1 : 0),
    agents: joined(root.agents, child.agents),
    models: joined(root.models, child.models),
    tools: joined(root.tools, child.tools),
  }
}

/** Those that are written for a task: its note, and how it is found. */
export function writesOf(taskId: string, note: TraceNote, keptMs: number | undefined): readonly NoteWrite[] {
  const expiry = note.endedAt === undefined || keptMs === undefined ? {} : { expiresAt: note.endedAt + keptMs }
  const isRoot = note.root === taskId
  const parent = note.delegation?.parentTaskId
  const found = { taskId }
  return [
    { key: isRoot ? rootKey(taskId) : childKey(taskId), value: note as unknown as Json, ...expiry },
    ...(isRoot && note.traceId !== traceIdOfTask(taskId)
      ? [{ key: traceKey(note.traceId, taskId), value: found, ...expiry }]
      : []),
    ...(parent !== undefined ? [{ key: belowKey(parent, taskId), value: found, ...expiry }] : []),
  ]
}

export function summaryOf(taskId: string, note: TraceNote): TraceSummary {
  const { messageId, delegation, own: _own, head: _head, root: _root, all, ...rest } = note
  return {
    type: 'A2A_TASK',
    taskId,
    ...rest,
    ...all,
    status: statusOf(note.state),
    idempotencyKey: messageId,
    ...(delegation !== undefined ? { delegationContext: delegation } : {}),
  }
}

/** Those that were written for a task. */
export function keysOf(taskId: string, note: TraceNote): readonly string[] {
  return writesOf(taskId, note, undefined).map(({ key }) => key)
}

/** A task that was canceled has not done what it was asked to: it stands with what went wrong, and its state says which. */
export function statusOf(state: TaskState): TraceStatus {
  if (state === 'TASK_STATE_COMPLETED') return 'SUCCESS'
  return isTerminal(state) ? 'ERROR' : 'PENDING'
}

function joined(before: readonly string[] = [], more: readonly string[]): readonly string[] {
  return [...new Set([...before, ...more])].slice(0, mostNames)
}
