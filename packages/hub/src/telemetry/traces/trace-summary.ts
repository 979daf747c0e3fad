/**
 * The index entry of a task for lists of traces: a few hundred bytes in the key-value store, without any content. Root entries are
 * listed; the others add to the totals of their root, and differ by their key.
 */
import { isTerminal, type Json, type TaskState } from '@parley/a2a'
import { traceIdOfTask } from '@parley/a2a/internal'
import type { KeyValueEntry, KeyValueWrite, KeyValueStore, Store } from '@parley/a2a/stores'
import type { DelegationContext, TraceStatus, TraceSummary } from './trace-types.ts'
import { type SpanTotals, replaceTotals, emptyTotals, isSameTotals, nonZeroTotals } from './span-totals.ts'
import type { TaskTrace } from './task-trace.ts'

export interface TraceIndexEntry {
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
  /** The root task of its tree in this hub; its own id if it is the root. */
  readonly root: string
  /** The seq of the last record included. */
  readonly head: number
  readonly own: SpanTotals
  /** The totals of the whole tree. Only for roots. */
  readonly all: SpanTotals
  readonly tasks: number
  readonly agents: readonly string[]
  readonly models: readonly string[]
  readonly tools: readonly string[]
}

/** The kind of the entries in the key-value store. */
export const traceIndexKind = 'traces'

/** Task ids are ordered by time, so a list of roots is, too. */
export const rootKey = (taskId: string): string => `root/${taskId}`
export const childKey = (taskId: string): string => `child/${taskId}`
/** Finds tasks by a trace id that a caller chose. */
export const traceKey = (traceId: string, taskId: string): string => `trace/${traceId}/${taskId}`
export const childOfKey = (parentId: string, taskId: string): string => `below/${parentId}/${taskId}`

/** Maximum number of names of one sort, and of tasks, per root. */
const maxNames = 20

/**
 * An entry as it is stored: without what another field implies, and without zeros and empty lists. That is half the size, and a
 * busy hub writes thousands in a second.
 */
type StoredTraceEntry = Partial<Omit<TraceIndexEntry, 'own' | 'all'>> & {
  readonly agent: string
  readonly own: Partial<SpanTotals>
  /** Absent if it is the same as `own`. */
  readonly all?: Partial<SpanTotals>
}

export function traceEntryFrom(note: KeyValueEntry | undefined): TraceIndexEntry | undefined {
  if (note === undefined) return undefined
  const stored = note.value as unknown as StoredTraceEntry
  const taskId = note.key.slice(note.key.indexOf('/') + 1)
  const own = { ...emptyTotals, ...stored.own }
  const full = {
    ...{ traceId: stored.traceId ?? traceIdOfTask(taskId), tenant: '', root: taskId, tasks: 1 },
    ...{ agents: [stored.agent], models: [], tools: [] },
    ...stored,
    own,
    all: stored.all === undefined ? own : { ...emptyTotals, ...stored.all },
  }
  return full as TraceIndexEntry
}

function toStoredEntry(taskId: string, note: TraceIndexEntry, ownTraceId: string): StoredTraceEntry {
  const { traceId, tenant, root, own, all, tasks, agents, models, tools, ...rest } = note
  const stored: { -readonly [Field in keyof StoredTraceEntry]: StoredTraceEntry[Field] } = Object.assign(rest, {
    own: nonZeroTotals(own),
  })
  if (traceId !== ownTraceId) stored.traceId = traceId
  if (tenant !== '') stored.tenant = tenant
  if (root !== taskId) stored.root = root
  if (!isSameTotals(own, all)) stored.all = nonZeroTotals(all)
  if (tasks !== 1) stored.tasks = tasks
  if (agents.length !== 1 || agents[0] !== note.agent) stored.agents = agents
  if (models.length > 0) stored.models = models
  if (tools.length > 0) stored.tools = tools
  return stored
}

/** The entry of a task. `root` is its own id unless another task of this hub created it. */
export function traceEntryOf(trace: TaskTrace, root: string, before: TraceIndexEntry | undefined): TraceIndexEntry {
  const { partition, totals, endedAt, error, delegation } = trace
  const own = totals.totals
  const names = { agents: [partition.agent], models: [...totals.models], tools: [...totals.tools] }
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
    all: replaceTotals(before?.all ?? emptyTotals, before?.own ?? emptyTotals, own),
    tasks: before?.tasks ?? 1,
    agents: mergeNames(before?.agents, names.agents),
    models: mergeNames(before?.models, names.models),
    tools: mergeNames(before?.tools, names.tools),
  }
}

/** The root entry with the new totals of a task below it. */
export function addChildTotals(
  root: TraceIndexEntry,
  child: TraceIndexEntry,
  before: TraceIndexEntry | undefined,
): TraceIndexEntry {
  return {
    ...root,
    all: replaceTotals(root.all, before?.own ?? emptyTotals, child.own),
    tasks: root.tasks + (before === undefined ? 1 : 0),
    agents: mergeNames(root.agents, child.agents),
    models: mergeNames(root.models, child.models),
    tools: mergeNames(root.tools, child.tools),
  }
}

/** The writes for a task: its entry and its lookup keys. */
export function traceEntryWrites(
  taskId: string,
  note: TraceIndexEntry,
  keptMs: number | undefined,
): readonly KeyValueWrite[] {
  const expiry = note.endedAt === undefined || keptMs === undefined ? {} : { expiresAt: note.endedAt + keptMs }
  const isRoot = note.root === taskId
  const parent = note.delegation?.parentTaskId
  const found = { taskId }
  const ownTraceId = traceIdOfTask(taskId)
  const value = toStoredEntry(taskId, note, ownTraceId) as unknown as Json
  const writes: KeyValueWrite[] = [{ key: isRoot ? rootKey(taskId) : childKey(taskId), value, ...expiry }]
  if (isRoot && note.traceId !== ownTraceId) {
    writes.push({ key: traceKey(note.traceId, taskId), value: found, ...expiry })
  }
  if (parent !== undefined) writes.push({ key: childOfKey(parent, taskId), value: found, ...expiry })
  return writes
}

export function traceSummaryOf(taskId: string, note: TraceIndexEntry): TraceSummary {
  const { messageId, delegation, own: _own, head: _head, root: _root, all, ...rest } = note
  return {
    type: 'A2A_TASK',
    taskId,
    ...rest,
    ...all,
    status: traceStatusOf(note.state),
    idempotencyKey: messageId,
    ...(delegation !== undefined ? { delegationContext: delegation } : {}),
  }
}

/** The keys that were written for a task. */
export function traceEntryKeys(taskId: string, note: TraceIndexEntry): readonly string[] {
  return traceEntryWrites(taskId, note, undefined).map(({ key }) => key)
}

/** A canceled task has not done its work: it is listed with the failures, and its state shows which it is. */
export function traceStatusOf(state: TaskState): TraceStatus {
  if (state === 'TASK_STATE_COMPLETED') return 'SUCCESS'
  return isTerminal(state) ? 'ERROR' : 'PENDING'
}

function mergeNames(before: readonly string[] = [], more: readonly string[]): readonly string[] {
  return [...new Set([...before, ...more])].slice(0, maxNames)
}

const pageSize = 100

/**
 * Deletes entries of tasks that were pruned early because there were too many: the oldest tasks are pruned first. Continues while
 * pruned tasks are among the oldest. Returns the number of deleted entries.
 */
export async function dropOrphanedEntries(kv: KeyValueStore, store: Pick<Store, 'tasks'>): Promise<number> {
  let dropped = 0
  for (const prefix of ['root/', 'child/']) {
    for (;;) {
      const oldest = await kv.list(traceIndexKind, { prefix, limit: pageSize })
      let orphaned = 0
      for (const note of oldest) {
        const taskId = note.key.slice(prefix.length)
        if ((await store.tasks.load(taskId)) !== undefined) continue
        orphaned += 1
        await removeTraceEntry(kv, taskId, traceEntryFrom(note))
      }
      dropped += orphaned
      if (orphaned < pageSize) break
    }
  }
  return dropped
}

export async function removeTraceEntry(
  kv: KeyValueStore,
  taskId: string,
  note: TraceIndexEntry | undefined,
): Promise<void> {
  for (const key of note === undefined ? [] : traceEntryKeys(taskId, note)) await kv.remove(traceIndexKind, key)
}
