/** The operations of A2A over a task log. This module defines what each operation does, not how it is spelled and framed. */
import { clockOf } from '../model/clock.ts'
import { A2AError, taskNotFound } from '../model/error.ts'
import { newId } from '../model/id.ts'
import type { CancelTaskRequest, SendMessageRequest } from '../model/operation.ts'
import { isInterrupted, isTerminal } from '../model/state.ts'
import type { Json, Message, Task } from '../model/task.ts'
import { notifyAbandoned, createLeaseHeartbeat, createSweep, createRecovery } from './recovery/recovery.ts'
import { type AcceptedMessage, checkOwner, createMessageAcceptor, agentUnavailable } from './message/accept-message.ts'
import type {
  AgentEntry,
  CallContext,
  Engine,
  EngineDeps,
  TaskAtHead,
  TaskEventStream,
  StreamItem,
} from './contract.ts'
import { type LogEvent, taskView, withHistory, withTransitions } from './task/fold.ts'
import { createTaskStreams, isSettled, waitUntil, withStreamOptions } from './task/follow.ts'
import { listTasks } from './task/list-tasks.ts'
import { DuplicateMessage, type LoadedTask } from './task/loaded-task.ts'
import { createLogPages } from './task/log-pages.ts'
import { createMessageClaims } from './message/message-claims.ts'
import { InFlightMap } from './in-flight-map.ts'
import { createPushService, type PushService } from './push/push-service.ts'
import { withStoreErrors } from './store-errors.ts'
import { createTaskCache, type TaskReader } from './task/task-cache.ts'
import type { TurnInput } from './turn/turn-runner.ts'
import { type TaskRun, nextTurn, startTaskRun as start, taskCanceled } from './turn/task-run.ts'
import * as intents from './task/task-intents.ts'

/** The maximum number of tasks that `turn.context()` and `turn.references()` return. */
const maxRelated = 100

export function createEngine(deps: EngineDeps): Engine {
  const { log } = deps
  const { now, monotonicNow } = clockOf(deps)
  const store = withStoreErrors(deps.store)
  const holder = newId()
  const runs = new InFlightMap<TaskRun>()
  let isClosing = false
  let isDraining = false
  const isShared = Number.isFinite(store.leaseTtlMs)

  const coalescesText = (agent: string): boolean => deps.findAgent(agent)?.options.coalesceText ?? true
  const keepsTransitions = (agent: string): boolean => deps.findAgent(agent)?.options.stateTransitionHistory === true
  // A log can be dropped while its task is kept only if there is a snapshot.
  const snapshotsAll = (): boolean => deps.retention?.logMs !== undefined
  const pages = createLogPages(store.tasks)
  const push =
    deps.push === undefined
      ? undefined
      : createPushService({
          ...deps,
          now,
          monotonicNow,
          push: deps.push,
          pages,
          store: { tasks: store.tasks, push: store.push },
          find: (id) => taskCache.find(id),
          findOwn,
        })
  const taskCache = createTaskCache({
    store,
    now,
    holder,
    coalescesText,
    keepsTransitions,
    snapshotAll: snapshotsAll,
    warn: log.warn,
    onFailed: handleTaskFailure,
    onAppended: push?.appended,
    onEvents: callListener,
  })
  const recovery = createRecovery({
    store,
    taskCache,
    holder,
    log,
    retention: deps.retention,
    now,
    findAgent: deps.findAgent,
    runOf,
    startRun,
  })
  const { resume } = recovery
  const streams = createTaskStreams(store, pages)
  const claims = createMessageClaims(deps.signer)
  const accept = createMessageAcceptor({
    store,
    taskCache,
    limits: deps.limits,
    claims,
    now,
    monotonicNow,
    findOwn,
    isRunning: (loaded) => runs.get(loaded.id) !== undefined,
    startRun,
    resume,
  })
  const held = (): readonly LoadedTask[] => [...runs.values()].map((run) => run.loaded)
  const sweep = createSweep({ store, log, recovery, sweepMs: deps.sweepMs })
  const heartbeat = createLeaseHeartbeat({
    leaseTtlMs: store.leaseTtlMs,
    everyMs: deps.sweepMs,
    log,
    monotonicNow,
    heldTasks: held,
    renew: recovery.renewLeases,
  })

  return {
    ...(push !== undefined ? { push: push.configs } : {}),
    logPageCounts: pages,
    tasks: {
      get: taskAtHead,
      cancel: async (id) => cancel(await findAny(id), { id }, 'answer'),
      evictFinished: () => taskCache.evictFinished(),
      forget(ids) {
        for (const id of ids) taskCache.peek(id)?.fail(taskNotFound(id))
      },
    },

    async start() {
      // Start the heartbeat first: resumed tasks are leased from then on, and there may be many.
      heartbeat.start()
      await claims.open()
      await recovery.takeUpOrphans()
      sweep.start()
      push?.start()
    },

    async sendMessage(request, context) {
      const entry = entryOf(context)
      const accepted = await acceptMessage(request, context, entry)
      if ('reply' in accepted) return { message: accepted.reply }
      const { loaded } = accepted
      const waits = request.configuration?.returnImmediately !== true
      if (waits) {
        context.releaseRead?.()
        await waitUntil(loaded, () => isSettled(loaded), deps.limits.waitMs)
      }
      return { task: withHistory(taskView(loaded.fold), request.configuration?.historyLength) }
    },

    async streamMessage(request, context) {
      const entry = entryOf(context)
      checkStreaming(entry)
      const streaming = context.streamed === true ? context : { ...context, streamed: true as const }
      const accepted = await acceptMessage(request, streaming, entry)
      if ('reply' in accepted) return singleItemStream({ event: { message: accepted.reply }, final: true })
      if (accepted.repeated === true) taskCache.admitReader(accepted.loaded)
      return streams.ofMessage(accepted, request, context, withStreamOptions(context, entry))
    },

    async getTask(request, context, transitions = false) {
      entryOf(context)
      const read = taskCache.read(request.id, context)
      const found = checkOwner(read instanceof Promise ? await read : read, request.id, context)
      const task = withHistory(found.view, request.historyLength)
      return transitions ? withTransitions(task, found) : task
    },

    async listTasks(request, context) {
      entryOf(context)
      const partition = { tenant: context.tenant, agent: context.agent, owner: context.caller.id }
      return listTasks(
        { store, signer: deps.signer, view: (row) => taskCache.view(row, context) },
        partition,
        request,
        context,
      )
    },

    async cancelTask(request, context, again = 'answer') {
      entryOf(context)
      return cancel(await findOwn(request.id, context), request, again)
    },

    async subscribe(request, context, finished) {
      const entry = withStreamOptions(context, entryOf(context))
      checkStreaming(entry)
      const loaded = await findOwn(request.id, context)
      taskCache.admitReader(loaded)
      const resumed = await streams.resume(loaded, context, entry)
      if (resumed !== undefined) return resumed
      if (!isTerminal(loaded.fold.status.state)) return streams.fromSnapshot(loaded, entry, false, undefined)
      if (finished === 'replay') return streams.fromSnapshot(loaded, entry, true, undefined)
      throw new A2AError('UNSUPPORTED_OPERATION', 'The task has ended and cannot be subscribed to', {
        taskId: loaded.id,
      })
    },

    whenRunsEnd(entry) {
      const own = [...runs.values()].filter((run) => run.entry === entry)
      return own.length === 0 ? undefined : Promise.all(own.map((run) => run.finished))
    },

    async drain() {
      isClosing = true
      isDraining = true
      // Keep the leases, but look for no new work.
      void sweep.stop()
      await Promise.all([...runs.values()].filter(mustFinish).map((run) => run.finished))
    },

    async close() {
      isClosing = true
      isDraining = false
      const reason = new A2AError('UNAVAILABLE', 'The server is shutting down')
      for (const run of runs.values()) run.stop(reason)
      await sweep.stop()
      await heartbeat.stop()
      await push?.stop()
      const loadedTasks = [...taskCache.all()]
      for (const loaded of loadedTasks) {
        await loaded.flushed()
        loaded.fail(reason)
      }
      await recovery.giveUp(loadedTasks)
    },
  }

  /** Accepts a message and the webhook that it registers: no response before both are saved (B-71). */
  function acceptMessage(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
  ): Promise<AcceptedMessage> {
    const asks = request.configuration?.taskPushNotificationConfig !== undefined
    return asks && push !== undefined ? acceptWithPush(push, request, context, entry) : accept(request, context, entry)
  }

  async function acceptWithPush(
    { prepare, attach }: PushService,
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
  ): Promise<AcceptedMessage> {
    const inline = await prepare(request, context)
    const accepted = await accept(request, context, entry)
    if (inline !== undefined && 'loaded' in accepted) await attach(inline, accepted, request.message.messageId)
    return accepted
  }

  function entryOf({ agent }: CallContext): AgentEntry {
    if (isClosing) throw new A2AError('UNAVAILABLE', 'The server is shutting down')
    const entry = deps.findAgent(agent)
    if (entry === undefined) throw agentUnavailable()
    return entry
  }

  async function findOwn(id: string, context: CallContext): Promise<LoadedTask> {
    const found = await taskCache.find(id, context)
    // A task that is loaded after the end would never settle.
    if (isClosing && !isDraining) throw new A2AError('UNAVAILABLE', 'The server is shutting down')
    return checkOwner(found, id, context)
  }

  async function findAny(id: string): Promise<LoadedTask> {
    if (isClosing) throw new A2AError('UNAVAILABLE', 'The server is shutting down')
    const loaded = await taskCache.find(id)
    if (loaded === undefined || !loaded.isStored) throw taskNotFound(id)
    return loaded
  }

  /**
   * Cancel is a request to the agent and a promise to the caller: the agent gets a signal and some time, the caller gets a response in
   * any case. Only the queue of the task decides whether the task is canceled or had ended first.
   */
  async function cancel(loaded: LoadedTask, request: CancelTaskRequest, again: 'answer' | 'refuse'): Promise<Task> {
    const { fold } = loaded
    const entry = deps.findAgent(loaded.partition.agent)
    const run = runOf(loaded)
    const { state } = fold.status
    if (!isTerminal(state)) {
      // A task that waits for input has no running agent, unless an agent in this process asked in the middle of its turn.
      if (run !== undefined || !isInterrupted(state)) {
        // The process that runs the task sees the record, in this process or another.
        await loaded.write(intents.requestCancel(request.metadata))
        run?.cancel()
        // A question that ended the turn may have come between: then no agent is left to wait for.
        const hasEnded = (): boolean =>
          isTerminal(fold.status.state) ||
          (isInterrupted(fold.status.state) && fold.questions.every(({ answer }) => answer !== undefined))
        await waitUntil(loaded, hasEnded, entry?.options.cancelGraceMs ?? 0)
      }
      run?.stop(taskCanceled())
      await loaded.write(intents.endTask(fold.turn, { state: 'TASK_STATE_CANCELED' }))
    }
    const isRepeated = state === 'TASK_STATE_CANCELED' && again === 'refuse'
    if (fold.status.state !== 'TASK_STATE_CANCELED' || isRepeated)
      throw new A2AError('TASK_NOT_CANCELABLE', 'The task has already ended', { taskId: loaded.id })
    if (run === undefined && isInterrupted(state)) notifyAbandoned(loaded, entry, log)
    return taskView(fold)
  }

  async function taskAtHead(taskId: string, reader?: TaskReader): Promise<TaskAtHead | undefined> {
    const found = await taskCache.read(taskId, reader)
    return found?.isStored === true ? { task: found.view, head: found.head } : undefined
  }

  /** A process that resumed this turn would have to fail it. */
  function mustFinish({ entry: { agent } }: TaskRun): boolean {
    return typeof agent === 'function' || agent.resume === 'fail'
  }

  function runOf(loaded: LoadedTask): TaskRun | undefined {
    return runs.get(loaded.id)
  }

  function startRun(loaded: LoadedTask, given: AgentEntry, input: TurnInput): TaskRun {
    if (isClosing) throw new A2AError('UNAVAILABLE', 'The server is shutting down')
    // The task failed since it was found: the output of a run would be lost.
    if (loaded.failure !== undefined) throw new A2AError('UNAVAILABLE', 'The task cannot be written now')
    // The agent may have been replaced while the message was validated: do not start with the old one.
    const current = (): AgentEntry => deps.findAgent(loaded.partition.agent) ?? given
    const entry = current()
    const run = start(
      {
        loaded,
        entry,
        log,
        jsonNodes: deps.limits.jsonNodes,
        now,
        monotonicNow,
        expireInput: () => void recovery.expireInput(loaded),
        isReplaced: () => current() !== entry,
        // Other processes would start it at once. A single process starts it here or at the next start.
        isClosing: () => isClosing && isShared,
        conversation,
        referenced,
        earlierStored,
      },
      input,
    )
    runs.set(loaded.id, run)
    void run.finished.then(() => {
      if (runs.get(loaded.id) === run) runs.delete(loaded.id)
      if (isDraining && nextTurn(loaded) !== undefined) void recovery.giveUp([loaded])
      else resumeIfMessagesWait(loaded, entry)
    })
    return run
  }

  /** A message can arrive between the last check of a run and its end; no other code would process it. */
  function resumeIfMessagesWait(loaded: LoadedTask, entry: AgentEntry): void {
    if (isClosing || loaded.failure !== undefined || !loaded.hasLease || isTerminal(loaded.fold.status.state)) return
    const next = nextTurn(loaded)
    if (next !== undefined && runs.get(loaded.id) === undefined) startRun(loaded, entry, next)
  }

  async function conversation(loaded: LoadedTask): Promise<readonly Task[]> {
    const rows = await store.tasks.context(loaded.partition, loaded.fold.contextId, maxRelated)
    const tasks: Task[] = []
    // One after the other: each may be large.
    for (const { id } of rows) {
      const found = id === loaded.id ? undefined : await taskAtHead(id)
      if (found !== undefined) tasks.push(found.task)
    }
    return tasks
  }

  /** From the newest completed task that has the key: a task that failed or still runs may have stored half of its work. */
  async function earlierStored({ partition, fold, id: ownId }: LoadedTask, key: string): Promise<Json | undefined> {
    const rows = await store.tasks.context(partition, fold.contextId, maxRelated)
    for (const { id } of rows.toReversed()) {
      const earlier = id === ownId ? undefined : await taskCache.find(id)
      const isDone = earlier?.fold.status.state === 'TASK_STATE_COMPLETED'
      const value = isDone ? earlier.fold.stored?.get(key) : undefined
      if (value !== undefined) return value
    }
    return undefined
  }

  async function referenced(loaded: LoadedTask, message: Message): Promise<readonly Task[]> {
    const ids = [...new Set(message.referenceTaskIds ?? [])].slice(0, maxRelated)
    const { tenant, agent, owner } = loaded.partition
    const tasks: Task[] = []
    for (const id of ids) {
      // A message may name any task: a large one of another caller is not loaded.
      const found = await taskCache.find(id, { tenant, caller: { id: owner } })
      const of = found?.partition
      if (found !== undefined && of?.tenant === tenant && of.agent === agent && of.owner === owner)
        tasks.push(taskView(found.fold))
    }
    return tasks
  }

  /** Calls `onEvent` of the agent with each logged event: afterwards, once per event, and without blocking. */
  function callListener(loaded: LoadedTask, events: readonly LogEvent[]): void {
    const onEvent = deps.findAgent(loaded.partition.agent)?.onEvent
    if (onEvent === undefined) return
    for (const { event, seq } of events) {
      const about = { ...loaded.eventContext, seq }
      // An error in a listener does not affect the task.
      const failed = (cause: unknown): void => {
        log.error('onEvent failed', { agent: about.agent, taskId: about.taskId, seq, cause })
      }
      try {
        const result = onEvent(event, about)
        if (result instanceof Promise) result.catch(failed)
      } catch (reason) {
        failed(reason)
      }
    }
  }

  function handleTaskFailure(loaded: LoadedTask, reason: unknown): void {
    taskCache.evict(loaded)
    runs.get(loaded.id)?.stop(taskInterrupted(reason))
    if (isClosing || reason instanceof DuplicateMessage) return
    // The task was removed, here or by another process: there is nothing to resume.
    if (reason instanceof A2AError && reason.code === 'TASK_NOT_FOUND') {
      log.warn('a task was removed while it was in use', { taskId: loaded.id })
      return
    }
    // There is nothing to retry: the next holder continues the task.
    if (loaded.hasLostLease) {
      log.warn('stopped a task here: another process has taken it over, or its lease expired', { taskId: loaded.id })
      return
    }
    log.error('a task could not be written', { taskId: loaded.id, cause: reason })
    recovery.remember(loaded.id)
  }
}

/** The reason given to an agent when this process can no longer write its task. */
function taskInterrupted(cause: unknown): A2AError {
  return cause instanceof A2AError ? cause : new A2AError('INTERRUPTED', 'The task was interrupted', {}, { cause })
}

function checkStreaming({ streaming }: AgentEntry): void {
  if (!streaming)
    throw new A2AError('UNSUPPORTED_OPERATION', 'This operation is not supported: the agent does not stream')
}

async function* singleItemStream(item: StreamItem): TaskEventStream & AsyncGenerator<readonly StreamItem[]> {
  yield [item]
}
