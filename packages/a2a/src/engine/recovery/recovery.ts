/**
 * Background work: orphans are resumed, due times are handled, leases are renewed, old tasks are pruned. All of it is found in the
 * store, so a new process finds what a dead one has left.
 */
import { unrefTimer } from '../../model/clock.ts'
import { isInterrupted, isTerminal, type TaskState } from '../../model/state.ts'
import type { DueTime, Store, TaskRow } from '../../stores/store.ts'
import type { AgentEntry, EngineLog, EngineRetention } from '../contract.ts'
import { type TaskFold, inputTimeoutMessage, taskView } from '../task/fold.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { TaskCache } from '../task/task-cache.ts'
import { toAgentMessage } from '../turn/report-interpreter.ts'
import type { TurnInput } from '../turn/turn-runner.ts'
import { type TaskRun, nextTurn } from '../turn/task-run.ts'
import * as intents from '../task/task-intents.ts'

export interface RecoveryDeps {
  readonly store: Store
  readonly taskCache: TaskCache
  readonly holder: string
  readonly log: EngineLog
  readonly retention: EngineRetention | undefined
  now(): number
  findAgent(name: string): AgentEntry | undefined
  runOf(loaded: LoadedTask): TaskRun | undefined
  startRun(loaded: LoadedTask, entry: AgentEntry, input: TurnInput): TaskRun
}

const batch = 100

export function createRecovery(deps: RecoveryDeps) {
  const { store, taskCache, log } = deps
  /** Tasks that this process gave up because the store failed. */
  const failedTasks = new Set<string>()
  const isShared = Number.isFinite(store.leaseTtlMs)

  return {
    /** Resumes every orphan. */
    async takeUpOrphans(): Promise<void> {
      for (;;) {
        const orphans = await store.tasks.claimOrphans(deps.holder, deps.now(), store.leaseTtlMs, batch)
        // All at once: their first appends share a commit.
        await Promise.all(
          orphans.map(async ({ task, fence }) => {
            stopStaleRun(task.id, fence)
            await resumeTask(task.id, async (loaded) => loaded.setLease(fence))
          }),
        )
        if (orphans.length < batch) return
      }
    },
    remember,
    async retryLost(): Promise<void> {
      const found = [...failedTasks]
      failedTasks.clear()
      await Promise.all(found.map((taskId) => resumeTask(taskId, takeLease)))
    },
    resume,
    expireInput: (loaded: LoadedTask) => expireInput(loaded).catch(logDueFailure(loaded.id)),
    async actOnDue(): Promise<void> {
      for (;;) {
        const due = await store.tasks.claimDue(deps.now(), batch)
        await Promise.all(due.map(({ task, due: time }) => expire(task, time).catch(logDueFailure(task.id))))
        if (due.length < batch) return
      }
    },
    async prune(): Promise<void> {
      // Also without a retention setting: message claims expire.
      const { finishedMs, maxTasks, logMs, deliveriesMs } = deps.retention ?? {}
      const now = deps.now()
      for (;;) {
        const removed = await store.prune({
          ...(finishedMs !== undefined ? { finishedBefore: now - finishedMs } : {}),
          ...(maxTasks !== undefined ? { maxTasks } : {}),
          ...(logMs !== undefined ? { logBefore: now - logMs } : {}),
          ...(deliveriesMs !== undefined ? { deliveriesBefore: now - deliveriesMs } : {}),
          batch,
        })
        if (removed > 0) taskCache.evictFinished()
        if (removed < batch) return
      }
    },
    /** If other processes can continue at once, they need not wait until our leases expire. */
    async giveUp(loadedTasks: readonly LoadedTask[]): Promise<void> {
      const held = loadedTasks.filter(({ hasLease }) => hasLease)
      if (!isShared || held.length === 0) return
      const ids = held.map(({ id }) => id)
      for (const loaded of held) loaded.clearLease()
      await store.tasks.renew(deps.holder, ids, deps.now()).catch((cause: unknown) => {
        log.warn('leases could not be released; they will expire', { tasks: ids.length, cause })
      })
    },
    async renewLeases(loadedTasks: readonly LoadedTask[]): Promise<void> {
      const held = new Map(
        loadedTasks.flatMap((loaded) => (loaded.fence === undefined ? [] : [[loaded, loaded.fence]])),
      )
      if (held.size === 0) return
      const ids = [...held.keys()].map(({ id }) => id)
      const gone = new Set(await store.tasks.renew(deps.holder, ids, deps.now() + store.leaseTtlMs))
      for (const [loaded, fence] of held) if (gone.has(loaded.id)) void loseLeaseUnlessReleased(loaded, fence)
      await releaseUnusedLeases([...held].filter(([loaded]) => !gone.has(loaded.id) && loaded.failure !== undefined))
    },
  }

  /**
   * A lease released meanwhile, or taken again, is not lost. The append in flight may have released it, with only the response
   * outstanding; if the lease was lost instead, that response tells so too.
   */
  async function loseLeaseUnlessReleased(loaded: LoadedTask, fence: number): Promise<void> {
    await loaded.flushed()
    if (loaded.fence === fence) loaded.loseLease()
  }

  /**
   * The leases were given up while a slow store renewed them: no run uses them, so release them for the next holder. By fence,
   * because the next holder may be this process: a task resumed since then is not released.
   */
  async function releaseUnusedLeases(vain: readonly (readonly [LoadedTask, number])[]): Promise<void> {
    if (vain.length === 0) return
    const ids = vain.map(([{ id }]) => id)
    const fences = vain.map(([, fence]) => fence)
    await store.tasks.renew(deps.holder, ids, deps.now(), fences)
  }

  /** A claimed task that could not be handled becomes due again later: the store does that. */
  function logDueFailure(taskId: string): (cause: unknown) => void {
    return (cause) => log.warn('a due task could not be processed; it will be retried', { taskId, cause })
  }

  /**
   * Remembers a task that could not be read or written: it is resumed when the store responds again. If leases expire by
   * themselves, nothing is remembered: the task is found as an orphan.
   */
  function remember(taskId: string): void {
    if (!isShared) failedTasks.add(taskId)
  }

  /** A lease of our own that expired unnoticed: a run under it could no longer write. */
  function stopStaleRun(taskId: string, fence: number): void {
    const loaded = taskCache.peek(taskId)
    if ((loaded?.fence ?? fence) < fence) loaded?.loseLease()
  }

  async function resumeTask(taskId: string, lease: (loaded: LoadedTask) => Promise<unknown>): Promise<void> {
    try {
      const loaded = await taskCache.find(taskId)
      // A message may have arrived first, and taken the lease.
      if (loaded === undefined || loaded.hasLease || isTerminal(loaded.fold.status.state)) return
      await lease(loaded)
      if (loaded.hasLease) await resume(loaded)
    } catch (cause) {
      log.warn('a task could not be resumed; it will be retried', { taskId, cause })
      remember(taskId)
    }
  }

  /** The outcome of the last append is unknown, and so is its fence: the same holder can take a new lease. */
  async function takeLease(loaded: LoadedTask): Promise<void> {
    if (hasPendingWork(loaded.fold)) await loaded.write(intents.takeLease)
  }

  /** Continues a task whose lease this process holds, unless it already runs: the lease can arrive on two paths at once. */
  async function resume(loaded: LoadedTask): Promise<void> {
    if (deps.runOf(loaded) !== undefined) return
    const { fold } = loaded
    const { agent } = loaded.partition
    const entry = deps.findAgent(agent)
    const about = { taskId: loaded.id, agent, turn: fold.turn }
    if (fold.cancelRequested) return end(loaded, 'TASK_STATE_CANCELED', undefined)
    if (entry === undefined) {
      log.warn('an unfinished task failed: this server no longer has its agent', about)
      return end(loaded, 'TASK_STATE_FAILED', 'The agent is no longer available on this server')
    }
    const input = resumedTurn(loaded, entry)
    if (input === undefined) {
      const why = typeof entry.agent === 'function' ? 'does not declare `resume`' : "declares `resume: 'fail'`"
      log.warn(`an interrupted turn failed: its agent ${why}`, about)
      return end(loaded, 'TASK_STATE_FAILED', 'The task was interrupted by a restart')
    }
    if (isInterruptedTurn(fold)) log.info('resuming an interrupted turn', about)
    deps.startRun(loaded, entry, input)
  }

  async function end(loaded: LoadedTask, state: TaskState, text: string | undefined): Promise<void> {
    const message = text === undefined ? {} : { message: toAgentMessage(text, loaded.fold) }
    const ending = { state, ...message, note: 'interrupted by a restart' }
    notifyIfAbandoned(loaded, await loaded.write(intents.endTask(loaded.fold.turn, ending)))
  }

  /** Only if this process ended the task. */
  function notifyIfAbandoned(loaded: LoadedTask, written: unknown): void {
    if (written !== undefined) notifyAbandoned(loaded, deps.findAgent(loaded.partition.agent), log)
  }

  async function expire(row: TaskRow, due: DueTime): Promise<void> {
    const loaded = await taskCache.find(row.id)
    if (loaded === undefined) return
    const run = deps.runOf(loaded)
    // The task runs in this process, and its own timers end it: they measure the duration, whatever the wall clock shows.
    if (run !== undefined) {
      if (run.hasTimedOut()) run.expire()
      else if (run.hasInputTimedOut() && !hasChangedSince(loaded.fold, row, due)) await expireInput(loaded)
      return
    }
    const { turn, deadlineAt = Infinity } = loaded.fold
    const isLate = deadlineAt <= deps.now()
    if (!isLate && hasChangedSince(loaded.fold, row, due)) return
    if (await runsElsewhere(loaded)) return
    if (!isLate && due.kind === 'input') return expireInput(loaded)
    const message = toAgentMessage('Task timed out', loaded.fold)
    const ending = { state: 'TASK_STATE_FAILED', message } as const
    const end = isLate ? intents.endTask(turn, ending) : intents.expireTurn(row.consumedSeq, turn, ending)
    notifyIfAbandoned(loaded, await loaded.write(end))
  }

  /**
   * Whether another process runs the task, with timers of its own: then leave it alone, because our clock may have stepped. A task
   * that waits for a message between two turns has no lease.
   */
  async function runsElsewhere(loaded: LoadedTask): Promise<boolean> {
    if (!isShared || loaded.hasLease || !hasPendingWork(loaded.fold)) return false
    await loaded.write(intents.takeLease)
    return !loaded.hasLease
  }

  async function expireInput(loaded: LoadedTask): Promise<void> {
    const { fold } = loaded
    const entry = deps.findAgent(loaded.partition.agent)
    const timeout = entry?.options.inputTimeout
    if (entry !== undefined && timeout?.then === 'continue') return continueWithoutInput(loaded, entry)
    const metadata = { reason: 'INPUT_TIMEOUT', timeoutSeconds: Math.round((timeout?.afterMs ?? 0) / 1_000) }
    const message = toAgentMessage('Input timeout', fold)
    const ending = { state: 'TASK_STATE_FAILED', message, metadata } as const
    const run = deps.runOf(loaded)
    const written = await loaded.write(intents.expireInput({ statusSeq: fold.statusSeq }, fold.turn, ending))
    // An agent that asked in the middle of a turn learns it from its signal.
    if (run === undefined) notifyIfAbandoned(loaded, written)
  }

  /**
   * If a running turn asked the question, it continues without an answer, in whichever process it runs; otherwise the next turn
   * starts.
   */
  async function continueWithoutInput(loaded: LoadedTask, entry: AgentEntry): Promise<void> {
    const { turn, statusSeq } = loaded.fold
    const message = toAgentMessage('No answer arrived in time; continuing without one', loaded.fold)
    const question = openQuestion(loaded.fold)
    if (question !== undefined) {
      await loaded.write(intents.continueUnanswered({ statusSeq }, question, message, entry.options))
      return
    }
    const next = inputTimeoutTurn(loaded.fold, { turn: turn + 1, attempt: 1 })
    const written = await loaded.write(intents.startUnanswered({ statusSeq }, next, message, entry.options))
    if (written !== undefined) deps.startRun(loaded, entry, { ...next, started: true })
  }
}

/** Whether the task has changed since its due time was claimed: then another due time applies, or none. */
function hasChangedSince(fold: TaskFold, row: TaskRow, { kind }: DueTime): boolean {
  return kind === 'input' ? fold.status.timestamp !== row.status.timestamp : fold.consumedSeq !== row.consumedSeq
}

function openQuestion({ questions }: TaskFold): string | undefined {
  // The last one: a repeated turn may have left an earlier question unanswered and asked again.
  return questions.findLast(({ answer }) => answer === undefined)?.id
}

function inputTimeoutTurn(fold: TaskFold, start: intents.TurnStart): TurnInput {
  return { ...start, message: inputTimeoutMessage(fold), options: {}, consumedSeq: fold.consumedSeq }
}

/** A turn began and did not end: it does not wait for the message that starts the next. */
function isInterruptedTurn(fold: TaskFold): boolean {
  return fold.running && !(isInterrupted(fold.status.state) && openQuestion(fold) === undefined)
}

/** The task has work, and no process runs it. */
function hasPendingWork(fold: TaskFold): boolean {
  return isInterruptedTurn(fold) || fold.waiting.length > 0
}

/** How an interrupted task continues, as its agent declares; `undefined` if it cannot. */
function resumedTurn(loaded: LoadedTask, { agent }: AgentEntry): TurnInput | undefined {
  const { fold } = loaded
  // A message arrived and its turn had not begun: nothing was interrupted.
  if (!isInterruptedTurn(fold)) return nextTurn(loaded)
  if (typeof agent === 'function' || agent.resume === 'fail') return undefined
  const { turn, checkpoint, reports, current } = fold
  const attempt = fold.attempt + 1
  const taken = current?.body.type === 'message' ? current.body : undefined
  return {
    ...inputTimeoutTurn(fold, { turn, attempt }),
    ...(taken !== undefined ? { message: taken.message, options: taken.options ?? {} } : {}),
    resumed: { attempt, ...(checkpoint !== undefined ? { checkpoint } : {}), reports, task: taskView(fold) },
    ...(agent.resume === 'reattach' ? { reattach: true } : {}),
  }
}

/**
 * After its turn an agent gets no more events of its task. If it left something waiting elsewhere for the next message of the caller,
 * this tells it that none will come. The handler is not awaited; an error in it is only logged.
 */
export function notifyAbandoned({ fold, partition }: LoadedTask, entry: AgentEntry | undefined, log: EngineLog): void {
  const agent = entry?.agent
  if (agent === undefined || typeof agent === 'function' || agent.onAbandoned === undefined) return
  const { onAbandoned } = agent
  const task = taskView(fold)
  const remembered = fold.checkpoint ?? fold.remembered
  const tell = async (): Promise<unknown> =>
    onAbandoned({ task, caller: { id: partition.owner }, tenant: partition.tenant, lastCheckpoint: remembered, log })
  tell().catch((cause: unknown) => {
    log.warn('onAbandoned of an agent failed', { taskId: task.id, agent: partition.agent, cause })
  })
}

interface HeartbeatDeps {
  readonly leaseTtlMs: number
  readonly everyMs: number
  readonly log: EngineLog
  /** The monotonic clock: a lease renewed in time is not lost when the wall clock steps. */
  monotonicNow(): number
  heldTasks(): readonly LoadedTask[]
  renew(loadedTasks: readonly LoadedTask[]): Promise<void>
}

/**
 * Renews the leases of this process. Leases have a timer of their own, because other due work may take long. If the store has not
 * responded for as long as a lease lasts, the leases have expired and other processes may run the tasks: the agents are stopped at
 * once, not when the store responds again.
 */
export function createLeaseHeartbeat({ leaseTtlMs, everyMs, log, monotonicNow, heldTasks, renew }: HeartbeatDeps) {
  /** Until when each lease is valid for certain, by the last response of the store. */
  let validUntil = new Map<LoadedTask, number>()
  let timer: ReturnType<typeof setInterval> | undefined
  let inFlight: Promise<void> | undefined

  return {
    start(): void {
      if (!Number.isFinite(leaseTtlMs)) return
      timer = unrefTimer(setInterval(beat, everyMs))
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await inFlight
    },
  }

  function beat(): void {
    const at = monotonicNow()
    const loadedTasks = heldTasks().filter(({ hasLease }) => hasLease)
    validUntil = new Map(loadedTasks.map((loaded) => [loaded, validUntil.get(loaded) ?? at + leaseTtlMs]))
    for (const [loaded, until] of validUntil) if (at >= until) stopHere(loaded)
    inFlight ??= prolong(loadedTasks, at).finally(() => {
      inFlight = undefined
    })
  }

  async function prolong(loadedTasks: readonly LoadedTask[], at: number): Promise<void> {
    try {
      await renew(loadedTasks)
      for (const loaded of loadedTasks) if (validUntil.has(loaded)) validUntil.set(loaded, at + leaseTtlMs)
    } catch (cause) {
      log.warn('leases could not be renewed', { tasks: loadedTasks.length, cause })
    }
  }

  function stopHere(loaded: LoadedTask): void {
    log.warn('a lease expired because the store did not answer; stopping the turn', { taskId: loaded.id })
    loaded.loseLease()
  }
}

interface SweepDeps {
  readonly store: Store
  readonly log: EngineLog
  readonly recovery: ReturnType<typeof createRecovery>
  readonly sweepMs: number
}

/** Pruning runs less often: it is housekeeping, and no caller waits for it. */
const pruneEvery = 10

/** Looks for due work periodically, one round at a time, and survives a store that fails for a while. */
export function createSweep({ store, log, recovery, sweepMs }: SweepDeps) {
  const isShared = Number.isFinite(store.leaseTtlMs)
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let round = 0
  let inFlight: Promise<void> | undefined

  return {
    start: schedule,
    /** Starts nothing more; resolves when the current round has ended. */
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await inFlight
    },
  }

  function schedule(): void {
    if (stopped) return
    timer = unrefTimer(
      setTimeout(() => {
        inFlight = sweep()
      }, sweepMs),
    )
  }

  async function sweep(): Promise<void> {
    round += 1
    if (isShared) await attempt(recovery.takeUpOrphans)
    await attempt(recovery.retryLost)
    await attempt(recovery.actOnDue)
    if (round % pruneEvery === 1) await attempt(recovery.prune)
    schedule()
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    if (stopped) return
    try {
      await work()
    } catch (cause) {
      if (!stopped) log.warn('due work failed', { cause })
    }
  }
}
