/**
 * The tasks in memory: those that run or are watched here, and some that were used
 * lately. There is one `Live` for a task at any time, so that all who ask for it share
 * its queue, its events and its view.
 */
import { A2AError } from '../model/error.ts'
import { isTerminal } from '../model/state.ts'
import type { NewTask, TaskRow } from '../stores/store.ts'
import { emptyFold, fold, foldFromSnapshot } from './fold.ts'
import type { LiveParts } from './live.ts'
import { Live } from './live.ts'
import { passing } from './passing.ts'
import { readLog } from './read-log.ts'

/**
 * How many tasks stay in memory that nobody uses right now, and how large one of them may be. Each one more is moved about
 * by the collector before it is let go: with a thousand a short task took 100 µs of CPU, with these 76.
 */
const maxIdle = 250
const maxIdleBytes = 64_000
/** Of all larger ones together that were loaded to be read: the same task is often read again at once. */
const maxLargeBytes = 64_000_000
/**
 * Of all large tasks that streams keep in memory, and of those of one owner. A stream may wait for ever at a task that
 * nothing happens to: without a bound 33 silent streams of 15 MB each ended a process. Tasks that run here are in memory
 * anyway and do not count.
 */
const maxWatchedBytes = 512_000_000
const maxWatchedBytesPerOwner = 128_000_000
/** How long to leave a store alone that could not be read. */
const rewatchMs = 500

export interface Registry {
  /** The task, from memory or from the store. */
  find(id: string): Promise<Live | undefined>
  /** The task if it is in memory, as it is there. */
  known(id: string): Live | undefined
  /** A task that is not in the log yet. */
  create(task: NewTask): Live
  forget(live: Live): void
  /** Throws RATE_LIMITED if the task is large, and streams keep too much of such in memory for another one. */
  admitReader(live: Live): void
  /** Some of them may be gone from the store; the next reader looks. */
  forgetFinished(): void
  all(): Iterable<Live>
}

export function createRegistry(given: Omit<LiveParts, 'released'>): Registry {
  const parts: LiveParts = { ...given, released }
  const { store } = parts
  const lives = passing<Live>()
  const watches = new Map<Live, AbortController>()
  const loading = new Map<string, Promise<Live | undefined>>()
  /** Loaded tasks over `maxIdleBytes`, the oldest first. */
  const large = new Set<Live>()
  // Where several processes share the store, a task may have moved on since we looked.
  const shared = Number.isFinite(store.leaseTtlMs)

  return { find, known: (id) => lives.get(id), create, forget, admitReader, forgetFinished, all: () => lives.values() }

  async function find(id: string): Promise<Live | undefined> {
    const known = lives.get(id)
    if (known !== undefined) {
      touch(known)
      if (mayBeGone(known) && ((await store.load(id))?.head ?? 0) < known.fold.head) {
        forget(known)
        return find(id)
      }
      // Also one that is ours: anybody may have sent it a message, or ended it.
      if (shared && known.opened && !isTerminal(known.fold.status.state)) await known.catchUp()
      watch(known)
      return known
    }
    const underway = loading.get(id)
    if (underway !== undefined) return underway
    const load = loadTask(id).finally(() => loading.delete(id))
    loading.set(id, load)
    return load
  }

  async function loadTask(id: string): Promise<Live | undefined> {
    const row = await store.load(id)
    if (row === undefined) return undefined
    const live = add(await liveOf(row))
    if (isLarge(live)) keepLarge(live)
    return live
  }

  /** Those that were loaded first go first, unless they are in use. */
  function keepLarge(live: Live): void {
    let bytes = live.fold.bytes
    for (const other of large) {
      if (lives.get(other.id) === other) bytes += other.fold.bytes
      else large.delete(other)
    }
    for (const other of large) {
      if (bytes <= maxLargeBytes) break
      if (!other.idle) continue
      bytes -= other.fold.bytes
      large.delete(other)
      forget(other)
    }
    large.add(live)
  }

  function admitReader(live: Live): void {
    const { bytes } = live.fold
    if (!isLarge(live) || live.owned || live.listeners.size > 0) return
    const { tenant, owner } = live.partition
    let all = 0
    let own = 0
    for (const other of lives.values()) {
      if (other === live || other.owned || other.listeners.size === 0 || !isLarge(other)) continue
      all += other.fold.bytes
      if (other.partition.owner === owner && other.partition.tenant === tenant) own += other.fold.bytes
    }
    // One task of any size may always be followed.
    const isTooMuch = all + bytes > maxWatchedBytes || (own > 0 && own + bytes > maxWatchedBytesPerOwner)
    if (all === 0 || !isTooMuch) return
    throw new A2AError('RATE_LIMITED', 'Streams of too many large tasks are open: end one of them, or ask for the task')
  }

  async function liveOf(row: TaskRow): Promise<Live> {
    const snapshot = await store.loadSnapshot(row.id)
    const state =
      snapshot === undefined ? emptyFold(row.id, row.contextId, row.status, row.metadata) : foldFromSnapshot(snapshot)
    state.transitions = parts.keepsTransitions(row.agent) ? (state.transitions ?? []) : undefined
    // With the last one that the snapshot holds: what is appended next is not to be earlier.
    const coalesceText = parts.coalescesText(row.agent)
    let lastAt = row.statusAt
    await readLog(store, row.id, Math.max(0, state.head - 1), (records) => {
      for (const record of records) if (record.seq > state.head) fold(state, record, coalesceText)
      lastAt = records.at(-1)?.at ?? lastAt
    })
    const partition = { tenant: row.tenant, agent: row.agent, owner: row.owner }
    return new Live(parts, partition, state, { lastAt })
  }

  function create(task: NewTask): Live {
    const { tenant, agent, owner } = task
    const state = emptyFold(task.id, task.contextId, task.status, task.metadata)
    if (parts.keepsTransitions(agent)) state.transitions = []
    return add(new Live(parts, { tenant, agent, owner }, state, { lastAt: task.statusAt, create: task }))
  }

  function add(live: Live): Live {
    lives.set(live.id, live)
    makeRoom()
    watch(live)
    return live
  }

  /** A store that lets go of tasks by itself does not tell, nor does another process that prunes. */
  function mayBeGone(live: Live): boolean {
    return (shared || store.prunesItself === true) && live.opened && isTerminal(live.fold.status.state)
  }

  function forgetFinished(): void {
    for (const live of [...lives.values()]) if (live.opened && isTerminal(live.fold.status.state)) forget(live)
  }

  function forget(live: Live): void {
    if (lives.get(live.id) !== live) return
    lives.delete(live.id)
    watches.get(live)?.abort()
  }

  /** Reads what other processes append, for as long as the task is of interest here. */
  function watch(live: Live): void {
    if (!shared || watches.has(live) || isTerminal(live.fold.status.state)) return
    const stop = new AbortController()
    watches.set(live, stop)
    // A store that does not answer for a while ends no turn and no stream: they go on from where they were. The sweep tells.
    void readOn(live, stop.signal).catch(() => setTimeout(watchAgain, rewatchMs, live))
  }

  function watchAgain(live: Live): void {
    if (lives.get(live.id) === live && live.broken === undefined) watch(live)
  }

  async function readOn(live: Live, signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted && live.broken === undefined && !isTerminal(live.fold.status.state)) {
        const { head } = live.fold
        await store.changed(live.id, head, signal)
        // What we appended ourselves woke us: if others came too, the next wait ends at once.
        if (signal.aborted || live.fold.head !== head) continue
        await live.catchUp()
        if (live.fold.head === head) await live.checkLength()
      }
    } finally {
      watches.delete(live)
    }
  }

  /** A large finished task is not worth its memory: whoever holds it keeps it, the next reader loads it. */
  function released(live: Live): void {
    if (isTerminal(live.fold.status.state) && isLarge(live)) forget(live)
  }

  /** The order of the map is the order of use. */
  function touch(live: Live): void {
    lives.delete(live.id)
    lives.set(live.id, live)
  }

  /** Looks at a few of the oldest each time, so that the cost stays the same however many are busy. */
  function makeRoom(): void {
    if (lives.size() <= maxIdle) return
    let looked = 0
    for (const live of lives.values()) {
      looked += 1
      if (live.idle) forget(live)
      else touch(live)
      if (looked >= 4 || lives.size() <= maxIdle) return
    }
  }
}

function isLarge({ fold: { bytes } }: Live): boolean {
  return bytes > maxIdleBytes
}
