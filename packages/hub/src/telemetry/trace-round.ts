/**
 * What one round of reading makes of the notes: all of it is written at once, or none. A task is noted below the root that
 * led to it, and its sums are added there. An agent may call others before its own task is in the log: such a child is a
 * root until its parent comes, and then moves below it.
 */
import type { Notes, NoteWrite } from '@parley/a2a'
import type { TaskTrace } from './task-trace.ts'
import { belowKey, childKey, noteIn, noteOf, rootKey, traceKey, traceKind, withChild, writesOf } from './trace-note.ts'
import type { TraceNote } from './trace-note.ts'

export interface RoundParts {
  readonly notes: Notes
  readonly keptMs: number | undefined
  /** As they were last written. */
  remembered(taskId: string): TraceNote | undefined
  /** Tasks that others name as their parent, and that are not there yet. */
  readonly awaited: Set<string>
  /** Whether children may wait of whom this process knows nothing. */
  readonly mayBeAwaited: boolean
}

/** Deeper than any chain that is let through. */
const deepest = 32
const mostChildren = 1_000

export class TraceRound {
  readonly changed = new Map<string, TraceNote>()
  readonly #parts: RoundParts
  readonly #writes = new Map<string, NoteWrite>()

  constructor(parts: RoundParts) {
    this.#parts = parts
  }

  get writes(): readonly NoteWrite[] {
    return [...this.#writes.values()]
  }

  async find(taskId: string): Promise<TraceNote | undefined> {
    const { notes, remembered } = this.#parts
    return (
      this.changed.get(taskId) ??
      remembered(taskId) ??
      noteIn(await notes.read(traceKind, rootKey(taskId))) ??
      noteIn(await notes.read(traceKind, childKey(taskId)))
    )
  }

  /** Notes what is now known of a task; `isNew` if nothing was. */
  async note(trace: TaskTrace, isNew: boolean): Promise<void> {
    const { taskId } = trace
    const before = isNew ? this.changed.get(taskId) : await this.find(taskId)
    const root = before?.root ?? (await this.#rootOf(trace))
    const note = noteOf(trace, root, before)
    if (before !== undefined && isSame(before, note)) return
    this.#put(taskId, note)
    if (root !== taskId) await this.#addTo(root, (above) => withChild(above, note, before))
    const { awaited, mayBeAwaited } = this.#parts
    if (before === undefined && (awaited.delete(taskId) || mayBeAwaited)) await this.#adopt(taskId, root)
  }

  async #rootOf({ taskId, delegation }: TaskTrace): Promise<string> {
    const parent = delegation?.parentTaskId
    if (parent === undefined) return taskId
    const known = await this.find(parent)
    if (known === undefined) this.#parts.awaited.add(parent)
    return known?.root ?? taskId
  }

  /** The parent of tasks that were roots until now. */
  async #adopt(parent: string, root: string): Promise<void> {
    for (const child of await this.#below(parent)) {
      const note = await this.find(child)
      if (note === undefined || note.root === root || child === root) continue
      await this.#addTo(root, (above) => withTree(above, note))
      await this.#move(child, note, root, 0)
    }
  }

  async #move(taskId: string, note: TraceNote, root: string, depth: number): Promise<void> {
    // One that is over already is as if it were not there.
    for (const key of [rootKey(taskId), traceKey(note.traceId, taskId)]) {
      this.#writes.set(key, { key, value: null, expiresAt: 1 })
    }
    this.#put(taskId, { ...note, root })
    if (depth === deepest) return
    for (const child of await this.#below(taskId)) {
      const inner = await this.find(child)
      if (inner !== undefined && inner.root === note.root) await this.#move(child, inner, root, depth + 1)
    }
  }

  async #below(taskId: string): Promise<readonly string[]> {
    const prefix = belowKey(taskId, '')
    const written = await this.#parts.notes.list(traceKind, { prefix, limit: mostChildren })
    const keys = [...written.map(({ key }) => key), ...[...this.#writes.keys()].filter((key) => key.startsWith(prefix))]
    return [...new Set(keys)].map((key) => key.slice(prefix.length))
  }

  async #addTo(root: string, change: (above: TraceNote) => TraceNote): Promise<void> {
    const above = await this.find(root)
    if (above !== undefined) this.#put(root, change(above))
  }

  #put(taskId: string, note: TraceNote): void {
    this.changed.set(taskId, note)
    for (const write of writesOf(taskId, note, this.#parts.keptMs)) this.#writes.set(write.key, write)
  }
}

/** With all that a former root stands for. */
function withTree(above: TraceNote, tree: TraceNote): TraceNote {
  const whole = withChild(above, { ...tree, own: tree.all }, undefined)
  return { ...whole, tasks: above.tasks + tree.tasks }
}

/** But for how far the log was read, which is not worth a write. */
function isSame({ head: _, ...before }: TraceNote, { head: _head, ...now }: TraceNote): boolean {
  return JSON.stringify(before) === JSON.stringify(now)
}
