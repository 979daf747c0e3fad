/**
 * The tasks in memory: those that run or are followed here, and some that were used recently. There is one `LoadedTask` per task at
 * any time, so that all users share its queue, its events and its view.
 */
import { A2AError } from '../../model/error.ts'
import { heavyStep, type NextStep } from '../../model/heavy-step.ts'
import { isTerminal } from '../../model/state.ts'
import { type StateTransition } from '../../model/state-transition.ts'
import type { LogRecord } from '../../model/record.ts'
import type { Task } from '../../model/task.ts'
import type { ListedTask, NewTask, Partition, StoredTask, TaskRow } from '../../stores/store.ts'
import { emptyFold, foldRecord, foldFromSnapshot, taskView, type TaskFold } from './fold.ts'
import { type LoadedTaskDeps, LoadedTask, readLog } from './loaded-task.ts'
import type { CallContext } from '../contract.ts'
import { InFlightMap } from '../in-flight-map.ts'

/**
 * How many idle tasks stay in memory, and how large one of them may be. The garbage collector moves each of them before it is
 * released: with a thousand a short task took 100 µs of CPU, with these 76.
 */
const maxIdle = 250
const maxIdleBytes = 64_000
/**
 * The limit of all larger tasks together that were loaded for reading: the same task is often read again at once. Their JSON and
 * their protobuf are cached with them, so they take three times as much.
 */
const maxCachedLargeBytes = 32_000_000
/**
 * The limit of all large tasks that streams keep in memory, and of those of one owner. A stream may wait forever on a silent task:
 * without a limit 33 silent streams of 15 MB each ended a process. Tasks that run here are in memory anyway and do not count.
 */
const maxWatchedBytes = 512_000_000
const maxWatchedBytesPerOwner = 128_000_000
/** The delay before a store that could not be read is read again. */
const watchRetryMs = 500

/** For whom a task is read: its operator, or a caller, who finds only tasks of its own. */
export type TaskReader = Pick<CallContext, 'admitRead'> & Partial<Pick<CallContext, 'tenant' | 'caller'>>

/** A task as a reader needs it. */
export interface TaskReading {
  readonly partition: Partition
  /** False while its first append is in flight. */
  readonly isStored: boolean
  readonly view: Task
  /** The seq of the last event in the view. */
  readonly head: number
  readonly transitions: readonly StateTransition[] | undefined
}

/** A task that is loaded only when its memory is reserved. */
interface LargeTask {
  readonly row: TaskRow
  readonly bytes: number
}

export interface TaskCache {
  /** The task, from memory or from the store. */
  find(id: string, reader?: TaskReader): Promise<LoadedTask | undefined>
  /** The task for one response. A task that is not in memory is loaded only if it has not ended, or is read repeatedly. */
  read(id: string, reader?: TaskReader): TaskReading | undefined | Promise<TaskReading | undefined>
  /** A task as a list shows it. Reads the store only if the row came without records. */
  view(row: ListedTask, reader?: TaskReader): Task | Promise<Task | undefined>
  /** The task if it is in memory, without reading the store. */
  peek(id: string): LoadedTask | undefined
  /** A task that is not in the log yet. */
  create(task: NewTask): LoadedTask
  evict(loaded: LoadedTask): void
  /** Throws RATE_LIMITED if the task is large and streams already keep too many large tasks in memory. */
  admitReader(loaded: LoadedTask): void
  /** The store may have removed some of them; the next reader checks. */
  evictFinished(): void
  all(): Iterable<LoadedTask>
}

export function createTaskCache(options: Omit<LoadedTaskDeps, 'onCommitted'>): TaskCache {
  const deps: LoadedTaskDeps = { ...options, onCommitted: committed }
  const { store } = deps
  const loadedTasks = new InFlightMap<LoadedTask>()
  const watches = new Map<LoadedTask, AbortController>()
  const loading = new Map<string, Promise<LoadedTask | LargeTask | undefined>>()
  const loadingLarge = new Map<string, Promise<LoadedTask | undefined>>()
  /** Loaded tasks over `maxIdleBytes`, oldest first. */
  const large = new Set<LoadedTask>()
  // If several processes share the store, a task may have changed since the last read.
  const isShared = Number.isFinite(store.leaseTtlMs)
  const readEnded = createEndedTasks(deps)

  return {
    find,
    read,
    view,
    peek: (id) => loadedTasks.get(id),
    create,
    evict: forget,
    admitReader,
    evictFinished: forgetFinished,
    all: () => loadedTasks.values(),
  }

  async function find(id: string, reader?: TaskReader): Promise<LoadedTask | undefined> {
    const known = loadedTasks.get(id)
    if (known !== undefined) {
      touch(known)
      if (mightBePruned(known) && ((await store.tasks.load(id))?.head ?? 0) < known.fold.head) {
        forget(known)
        return find(id, reader)
      }
      // Also a task of this process: another process may have sent it a message, or ended it.
      if (isShared && known.isStored && !isTerminal(known.fold.status.state)) await known.catchUp()
      watch(known)
      return known
    }
    const loaded = await shared(loading, id, () => loadTask(id))
    if (loaded === undefined || loaded instanceof LoadedTask) return loaded
    const { row, bytes } = loaded
    if (reader?.caller !== undefined && !isOwn(row, reader)) return undefined
    const nextStep = (await reader?.admitRead?.(bytes)) ?? heavyStep
    // Another reader may have loaded it meanwhile.
    return loadedTasks.get(id) === undefined
      ? shared(loadingLarge, id, () => loadLarge(id, nextStep))
      : find(id, reader)
  }

  /** Concurrent callers share one load. */
  function shared<Loaded>(
    loads: Map<string, Promise<Loaded>>,
    id: string,
    load: () => Promise<Loaded>,
  ): Promise<Loaded> {
    let inFlight = loads.get(id)
    if (inFlight === undefined) loads.set(id, (inFlight = load().finally(() => loads.delete(id))))
    return inFlight
  }

  function read(id: string, reader?: TaskReader): TaskReading | undefined | Promise<TaskReading | undefined> {
    const known = loadedTasks.get(id)
    if (known !== undefined && isCurrent(known)) {
      touch(known)
      return readingOf(known)
    }
    const ended = known !== undefined || loading.has(id) ? undefined : readEnded?.(id)
    if (ended === undefined) return find(id, reader).then(readingOf)
    return ended instanceof Promise ? ended.then((reading) => reading ?? find(id, reader).then(readingOf)) : ended
  }

  function view(row: ListedTask, reader?: TaskReader): Task | Promise<Task | undefined> {
    const known = loadedTasks.get(row.id)
    if (known?.fold.head === row.head) return taskView(known.fold)
    if (row.records !== undefined) return taskView(foldLog(deps, row, row.records))
    return Promise.resolve(read(row.id, reader)).then((found) => (found?.isStored === true ? found.view : undefined))
  }

  async function loadTask(id: string): Promise<LoadedTask | LargeTask | undefined> {
    // A store that reads short tasks at once returns no records for a large one.
    const stored = await store.tasks.loadStored?.(id)
    if (stored?.records !== undefined) return add(loadedFrom(stored.row, stored.records))
    if (store.tasks.loadStored !== undefined && stored === undefined) return undefined
    const [row, bytes = 0] = await Promise.all([stored?.row ?? store.tasks.load(id), store.tasks.sizeOf?.(id)])
    if (row === undefined) return undefined
    return bytes > maxIdleBytes ? { row, bytes } : keep(await loadFold(row, heavyStep))
  }

  async function loadLarge(id: string, nextStep: NextStep): Promise<LoadedTask | undefined> {
    // Read again: it may have waited for long.
    const row = await store.tasks.load(id)
    if (row === undefined) return undefined
    return keep(await loadFold(row, nextStep))
  }

  function keep(loaded: LoadedTask): LoadedTask {
    add(loaded)
    if (isLarge(loaded)) keepLarge(loaded)
    return loaded
  }

  /** The first loaded are removed first, unless they are in use. */
  function keepLarge(loaded: LoadedTask): void {
    let bytes = loaded.fold.bytes
    for (const other of large) {
      if (loadedTasks.get(other.id) === other) bytes += other.fold.bytes
      else large.delete(other)
    }
    for (const other of large) {
      if (bytes <= maxCachedLargeBytes) break
      if (!other.isIdle) continue
      bytes -= other.fold.bytes
      large.delete(other)
      forget(other)
    }
    large.add(loaded)
  }

  function admitReader(loaded: LoadedTask): void {
    const { bytes } = loaded.fold
    if (!isLarge(loaded) || loaded.hasLease || loaded.listeners.size > 0) return
    const { tenant, owner } = loaded.partition
    let all = 0
    let own = 0
    for (const other of loadedTasks.values()) {
      if (other === loaded || other.hasLease || other.listeners.size === 0 || !isLarge(other)) continue
      all += other.fold.bytes
      if (other.partition.owner === owner && other.partition.tenant === tenant) own += other.fold.bytes
    }
    // A single task of any size may always be followed.
    const isTooMuch = all + bytes > maxWatchedBytes || (own > 0 && own + bytes > maxWatchedBytesPerOwner)
    if (all === 0 || !isTooMuch) return
    throw new A2AError('RATE_LIMITED', 'Too many streams of large tasks are open: close one, or use GetTask')
  }

  function loadedFrom(row: TaskRow, records: readonly LogRecord[]): LoadedTask {
    return new LoadedTask(deps, partitionOf(row), foldLog(deps, row, records))
  }

  async function loadFold(row: TaskRow, nextStep: NextStep): Promise<LoadedTask> {
    const snapshot = await store.tasks.loadSnapshot(row.id, nextStep)
    const state =
      snapshot === undefined ? emptyFold(row.id, row.contextId, row.status, row.metadata) : foldFromSnapshot(snapshot)
    state.transitions = deps.keepsTransitions(row.agent) ? (state.transitions ?? []) : undefined
    const coalesceText = deps.coalescesText(row.agent)
    const fold = (records: readonly LogRecord[]): void => {
      for (const record of records) if (record.seq > state.head) foldRecord(state, record, coalesceText)
    }
    await readLog(store.tasks, row.id, state.head, fold, row.head, nextStep)
    return new LoadedTask(deps, partitionOf(row), state)
  }

  function create(task: NewTask): LoadedTask {
    const { tenant, agent, owner } = task
    const state = emptyFold(task.id, task.contextId, task.status, task.metadata)
    if (deps.keepsTransitions(agent)) state.transitions = []
    return add(new LoadedTask(deps, { tenant, agent, owner }, state, task))
  }

  function add(loaded: LoadedTask): LoadedTask {
    loadedTasks.set(loaded.id, loaded)
    evictIdle()
    watch(loaded)
    return loaded
  }

  /** Whether no other process and no pruning may have changed the task. */
  function isCurrent(loaded: LoadedTask): boolean {
    if (!loaded.isStored) return true
    return isTerminal(loaded.fold.status.state) ? !mightBePruned(loaded) : !isShared
  }

  /** A store that removes tasks by itself does not notify, and neither does another process that prunes. */
  function mightBePruned(loaded: LoadedTask): boolean {
    return (isShared || store.prunesItself === true) && loaded.isStored && isTerminal(loaded.fold.status.state)
  }

  function forgetFinished(): void {
    for (const loaded of [...loadedTasks.values()])
      if (loaded.isStored && isTerminal(loaded.fold.status.state)) forget(loaded)
  }

  function forget(loaded: LoadedTask): void {
    if (loadedTasks.get(loaded.id) !== loaded) return
    loadedTasks.delete(loaded.id)
    watches.get(loaded)?.abort()
  }

  /**
   * Reads what other processes append, for as long as the task is in use here. None can append to a task that is not stored yet: a
   * task that its first append ends is never watched, and no store is asked for the head of a task that it does not have.
   */
  function watch(loaded: LoadedTask): void {
    if (!isShared || !loaded.isStored || watches.has(loaded) || isTerminal(loaded.fold.status.state)) return
    const stop = new AbortController()
    watches.set(loaded, stop)
    // A store that fails for a while ends no turn and no stream: they continue where they were. The sweep reports the failure.
    void followChanges(loaded, stop.signal).catch(() => setTimeout(watchAgain, watchRetryMs, loaded))
  }

  function watchAgain(loaded: LoadedTask): void {
    if (loadedTasks.get(loaded.id) === loaded && loaded.failure === undefined) watch(loaded)
  }

  async function followChanges(loaded: LoadedTask, signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted && loaded.failure === undefined && !isTerminal(loaded.fold.status.state)) {
        const { head } = loaded.fold
        await store.tasks.changed(loaded.id, head, signal)
        // Our own append woke us: if other processes appended too, the next wait ends at once.
        if (signal.aborted || loaded.fold.head !== head) continue
        await loaded.catchUp()
        if (loaded.fold.head === head) await loaded.checkTruncation()
      }
    } finally {
      watches.delete(loaded)
    }
  }

  function committed(loaded: LoadedTask): void {
    if (!isTerminal(loaded.fold.status.state)) watchAgain(loaded)
    // A large finished task is not worth its memory: current users keep it, and the next reader loads it again.
    else if (isLarge(loaded)) forget(loaded)
  }

  /** The map is ordered by use. */
  function touch(loaded: LoadedTask): void {
    loadedTasks.delete(loaded.id)
    loadedTasks.set(loaded.id, loaded)
  }

  /** Checks a few of the oldest each time, so that the cost does not depend on the number of busy tasks. */
  function evictIdle(): void {
    if (loadedTasks.size <= maxIdle) return
    let looked = 0
    for (const loaded of loadedTasks.values()) {
      looked += 1
      if (loaded.isIdle) forget(loaded)
      else touch(loaded)
      if (looked >= 4 || loadedTasks.size <= maxIdle) return
    }
  }
}

function isOwn(row: TaskRow, { tenant, caller }: TaskReader): boolean {
  return row.owner === caller?.id && row.tenant === tenant
}

function isLarge({ fold: { bytes } }: LoadedTask): boolean {
  return bytes > maxIdleBytes
}

function readingOf(loaded: LoadedTask | undefined): TaskReading | undefined {
  return loaded && readingOfFold(loaded.partition, loaded.fold, loaded.isStored)
}

function readingOfFold(partition: Partition, fold: TaskFold, isStored = true): TaskReading {
  return { partition, isStored, view: taskView(fold), head: fold.head, transitions: fold.transitions }
}

/** Between this many other reads and twice as many, a read is forgotten. */
const rememberedReads = 250

type FoldDeps = Pick<LoadedTaskDeps, 'coalescesText' | 'keepsTransitions'>

/**
 * Reads a task that has ended for one response. Most are read once: a `LoadedTask` would push another task out of the cache, and be
 * released unused. A task that is read again soon is loaded. `undefined`: the store cannot read tasks at once.
 */
function createEndedTasks({ store, ...deps }: FoldDeps & Pick<LoadedTaskDeps, 'store'>) {
  const { loadStored } = store.tasks
  if (loadStored === undefined) return undefined
  let newest = new Set<string>()
  let older = newest

  /** Only ids of tasks that exist: a caller may send any text as an id. */
  function remember(id: string): void {
    if (newest.size >= rememberedReads) {
      older = newest
      newest = new Set()
    }
    newest.add(id)
  }

  function readingOfStored(stored: StoredTask | undefined): TaskReading | undefined {
    if (stored === undefined || !isTerminal(stored.row.status.state)) return undefined
    const { row, records, task } = stored
    remember(row.id)
    const partition = partitionOf(row)
    if (records !== undefined) return readingOfFold(partition, foldLog(deps, row, records))
    // A view has no transitions: they are in the internal part of a snapshot.
    if (task === undefined || deps.keepsTransitions(row.agent)) return undefined
    return { partition, isStored: true, view: task, head: row.head, transitions: undefined }
  }

  /** `undefined`: the task must be loaded, or does not exist. */
  return function read(id: string): TaskReading | undefined | Promise<TaskReading | undefined> {
    if (newest.has(id) || older.has(id)) return undefined
    const stored = loadStored(id)
    return stored instanceof Promise ? stored.then(readingOfStored) : readingOfStored(stored)
  }
}

/** The fold of a whole log. */
function foldLog(deps: FoldDeps, row: TaskRow, records: readonly LogRecord[]): TaskFold {
  const fold = emptyFold(row.id, row.contextId, row.status, row.metadata)
  if (deps.keepsTransitions(row.agent)) fold.transitions = []
  const coalesceText = deps.coalescesText(row.agent)
  for (const record of records) foldRecord(fold, record, coalesceText)
  return fold
}

function partitionOf({ tenant, agent, owner }: TaskRow): Partition {
  return { tenant, agent, owner }
}
