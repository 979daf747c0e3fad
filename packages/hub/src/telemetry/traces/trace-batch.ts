/**
 * The writes of one round of the trace index, applied all or none. A task is stored below its root task, and its totals are added
 * there. An agent may call others before its own task is in the log: such a child is a root until its parent arrives, and then
 * moves below it.
 */
import type { KeyValueStore, KeyValueWrite } from '@parley/a2a/stores'
import type { TaskTrace } from './task-trace.ts'
import {
  childOfKey,
  childKey,
  traceEntryFrom,
  traceEntryOf,
  rootKey,
  traceKey,
  traceIndexKind,
  addChildTotals,
  traceEntryWrites,
  type TraceIndexEntry,
} from './trace-summary.ts'

export interface TraceBatchDeps {
  readonly kv: KeyValueStore
  readonly retentionMs: number | undefined
  /** The entry as last written. */
  cached(taskId: string): TraceIndexEntry | undefined
  /** Tasks named as parents that are not indexed yet. */
  readonly missingParents: Set<string>
  /** Whether there may be waiting children that this process does not know. */
  readonly mayHaveOrphans: boolean
}

/** Deeper than any permitted chain. */
const maxDepth = 32
const maxChildren = 1_000

export class TraceBatch {
  readonly changed = new Map<string, TraceIndexEntry>()
  readonly #parts: TraceBatchDeps
  readonly #writes = new Map<string, KeyValueWrite>()

  constructor(parts: TraceBatchDeps) {
    this.#parts = parts
  }

  get writes(): readonly KeyValueWrite[] {
    return [...this.#writes.values()]
  }

  async find(taskId: string): Promise<TraceIndexEntry | undefined> {
    const { kv, cached } = this.#parts
    return (
      this.changed.get(taskId) ??
      cached(taskId) ??
      traceEntryFrom(await kv.read(traceIndexKind, rootKey(taskId))) ??
      traceEntryFrom(await kv.read(traceIndexKind, childKey(taskId)))
    )
  }

  /** Updates the entry of a task; `isNew` if there was none. */
  async update(trace: TaskTrace, isNew: boolean): Promise<void> {
    const { taskId } = trace
    const before = isNew ? this.changed.get(taskId) : await this.find(taskId)
    const root = before?.root ?? (await this.#rootOf(trace))
    const note = traceEntryOf(trace, root, before)
    if (before !== undefined && isUnchanged(before, note)) return
    this.#put(taskId, note)
    if (root !== taskId) await this.#addTo(root, (rootEntry) => addChildTotals(rootEntry, note, before))
    const { missingParents, mayHaveOrphans } = this.#parts
    if (before === undefined && (missingParents.delete(taskId) || mayHaveOrphans)) await this.#adopt(taskId, root)
  }

  async #rootOf({ taskId, delegation }: TaskTrace): Promise<string> {
    const parent = delegation?.parentTaskId
    if (parent === undefined) return taskId
    const known = await this.find(parent)
    if (known === undefined) this.#parts.missingParents.add(parent)
    return known?.root ?? taskId
  }

  /** Moves tasks that were roots until now below their parent. */
  async #adopt(parent: string, root: string): Promise<void> {
    for (const child of await this.#below(parent)) {
      const note = await this.find(child)
      if (note === undefined || note.root === root || child === root) continue
      await this.#addTo(root, (rootEntry) => addTreeTotals(rootEntry, note))
      await this.#move(child, note, root, 0)
    }
  }

  async #move(taskId: string, note: TraceIndexEntry, root: string, depth: number): Promise<void> {
    // An entry that has already expired counts as absent.
    for (const key of [rootKey(taskId), traceKey(note.traceId, taskId)]) {
      this.#writes.set(key, { key, value: null, expiresAt: 1 })
    }
    this.#put(taskId, { ...note, root })
    if (depth === maxDepth) return
    for (const child of await this.#below(taskId)) {
      const inner = await this.find(child)
      if (inner !== undefined && inner.root === note.root) await this.#move(child, inner, root, depth + 1)
    }
  }

  async #below(taskId: string): Promise<readonly string[]> {
    const prefix = childOfKey(taskId, '')
    const written = await this.#parts.kv.list(traceIndexKind, { prefix, limit: maxChildren })
    const keys = [...written.map(({ key }) => key), ...[...this.#writes.keys()].filter((key) => key.startsWith(prefix))]
    return [...new Set(keys)].map((key) => key.slice(prefix.length))
  }

  async #addTo(root: string, change: (rootEntry: TraceIndexEntry) => TraceIndexEntry): Promise<void> {
    const rootEntry = await this.find(root)
    if (rootEntry !== undefined) this.#put(root, change(rootEntry))
  }

  #put(taskId: string, note: TraceIndexEntry): void {
    this.changed.set(taskId, note)
    for (const write of traceEntryWrites(taskId, note, this.#parts.retentionMs)) this.#writes.set(write.key, write)
  }
}

/** Includes everything below the former root. */
function addTreeTotals(rootEntry: TraceIndexEntry, tree: TraceIndexEntry): TraceIndexEntry {
  const whole = addChildTotals(rootEntry, { ...tree, own: tree.all }, undefined)
  return { ...whole, tasks: rootEntry.tasks + tree.tasks }
}

/** Ignores the read position, which is not worth a write. */
function isUnchanged({ head: _, ...before }: TraceIndexEntry, { head: _head, ...now }: TraceIndexEntry): boolean {
  return JSON.stringify(before) === JSON.stringify(now)
}
