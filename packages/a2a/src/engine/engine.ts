/** The operations of A2A over a log. What each means is here; how it is spelled and framed is not. */
import { clockOf } from '../model/clock.ts'
import { A2AError, taskNotFound } from '../model/error.ts'
import { newId } from '../model/id.ts'
import type { CancelTaskRequest, SendMessageRequest } from '../model/operation.ts'
import { isInterrupted, isTerminal } from '../model/state.ts'
import type { Message, Task } from '../model/task.ts'
import { tellAbandoned } from './abandon.ts'
import type { Accepted } from './accept.ts'
import { checkOwner, createAccept, noSuchAgent } from './accept.ts'
import { cancelTask } from './cancel.ts'
import type { AgentEntry, CallContext, Engine, EngineParts, EventStream, StreamItem } from './contract.ts'
import { viewOf, withHistory, withTransitions } from './fold.ts'
import { until, withStreamOptions } from './follow.ts'
import { createHeartbeat } from './heartbeat.ts'
import { listTasks } from './list.ts'
import type { Live } from './live.ts'
import { DuplicateMessage } from './append-refusals.ts'
import { createLogPages } from './log-pages.ts'
import { createMessageClaims } from './message-claims.ts'
import { passing } from './passing.ts'
import { createPush } from './push.ts'
import type { Push } from './push.ts'
import { reachable } from './reachable.ts'
import { createRecovery } from './recover.ts'
import { createRegistry } from './registry.ts'
import type { TurnInput } from './turn-input.ts'
import type { Run } from './run.ts'
import { nextTurn, startRun as start } from './run.ts'
import { createSweep } from './sweep.ts'
import { createTaskStreams, isAtRest } from './task-streams.ts'
import { createTeller } from './teller.ts'

/** How many tasks `turn.context()` and `turn.references()` bring at most. */
const maxRelated = 100

export function createEngine(parts: EngineParts): Engine {
  const { log } = parts
  const { now, monotonicNow } = clockOf(parts)
  const store = reachable(parts.store)
  const holder = newId()
  const runs = passing<Run>()
  let closing = false
  let draining = false
  const shared = Number.isFinite(store.leaseTtlMs)

  const coalescesText = (agent: string): boolean => parts.agent(agent)?.options.coalesceText ?? true
  const keepsTransitions = (agent: string): boolean => parts.agent(agent)?.options.stateTransitionHistory === true
  // Only a snapshot lets a log be dropped and its task be kept.
  const snapshotsAll = parts.retention?.logMs !== undefined
  const push =
    parts.push === undefined
      ? undefined
      : createPush({ ...parts, now, monotonicNow, push: parts.push, store, find: (id) => registry.find(id), findOwn })
  const registry = createRegistry({
    store,
    now,
    holder,
    coalescesText,
    keepsTransitions,
    snapshotsAll,
    warn: log.warn,
    lost,
    appended: push?.appended,
    recorded: createTeller(parts.agent, log),
  })
  const recovery = createRecovery({
    store,
    registry,
    holder,
    log,
    retention: parts.retention,
    now,
    agent: parts.agent,
    runOf,
    startRun,
  })
  const { resume: goOn } = recovery
  const pages = createLogPages(store)
  const streams = createTaskStreams(store, pages)
  const claims = createMessageClaims(parts.signer)
  const accept = createAccept({
    store,
    registry,
    limits: parts.limits,
    claims,
    now,
    monotonicNow,
    findOwn,
    runs: (live) => runs.get(live.id) !== undefined,
    startRun,
    resume: goOn,
  })
  const held = (): readonly Live[] => [...runs.values()].map((run) => run.live)
  const sweep = createSweep({ store, log, recovery, sweepMs: parts.sweepMs })
  const heartbeat = createHeartbeat({
    leaseTtlMs: store.leaseTtlMs,
    everyMs: parts.sweepMs,
    log,
    monotonicNow,
    held,
    renew: recovery.renewLeases,
  })

  return {
    ...(push !== undefined ? { push: push.desk } : {}),
    pages,
    tasks: {
      get: view,
      cancel: async (id) => cancel(await findAny(id), { id }, 'answer'),
    },

    async start() {
      // First: what is taken up is held from then on, and there may be much of it.
      heartbeat.start()
      await claims.open()
      await recovery.takeUpOrphans()
      sweep.start()
      push?.start()
    },

    async sendMessage(request, context) {
      const entry = entryOf(context)
      const accepted = await take(request, context, entry)
      if ('reply' in accepted) return { message: accepted.reply }
      const { live } = accepted
      const waits = request.configuration?.returnImmediately !== true
      if (waits) await until(live, () => isAtRest(live), parts.limits.waitMs)
      return { task: withHistory(viewOf(live.fold), request.configuration?.historyLength) }
    },

    async streamMessage(request, context) {
      const entry = entryOf(context)
      checkStreaming(entry)
      const accepted = await take(request, { ...context, streamed: true }, entry)
      if ('reply' in accepted) return single({ event: { message: accepted.reply }, final: true })
      if (accepted.repeated === true) registry.admitReader(accepted.live)
      return streams.ofMessage(accepted, request, context, withStreamOptions(context, entry))
    },

    async getTask(request, context, transitions = false) {
      entryOf(context)
      const live = await findOwn(request.id, context)
      const task = withHistory(viewOf(live.fold), request.historyLength)
      return transitions ? withTransitions(task, live.fold) : task
    },

    async listTasks(request, context) {
      entryOf(context)
      const partition = { tenant: context.tenant, agent: context.agent, owner: context.caller.id }
      return listTasks({ store, signer: parts.signer, view }, partition, request, context)
    },

    async cancelTask(request, context, again = 'answer') {
      entryOf(context)
      return cancel(await findOwn(request.id, context), request, again)
    },

    async subscribe(request, context, finished) {
      const entry = withStreamOptions(context, entryOf(context))
      checkStreaming(entry)
      const live = await findOwn(request.id, context)
      registry.admitReader(live)
      const resumed = await streams.resume(live, context, entry)
      if (resumed !== undefined) return resumed
      if (!isTerminal(live.fold.status.state)) return streams.fromSnapshot(live, entry, false, undefined)
      if (finished === 'replay') return streams.fromSnapshot(live, entry, true, undefined)
      throw new A2AError('UNSUPPORTED_OPERATION', 'The task has ended: there is nothing to subscribe to', {
        taskId: live.id,
      })
    },

    working(entry) {
      const own = [...runs.values()].filter((run) => run.entry === entry)
      return own.length === 0 ? undefined : Promise.all(own.map((run) => run.finished))
    },

    async drain() {
      closing = true
      draining = true
      // What is held stays held, and nothing else is looked for.
      void sweep.stop()
      await Promise.all([...runs.values()].filter(mustFinish).map((run) => run.finished))
    },

    async close() {
      closing = true
      draining = false
      const reason = new A2AError('UNAVAILABLE', 'The server is going down')
      for (const run of runs.values()) run.stop(reason)
      await sweep.stop()
      await heartbeat.stop()
      await push?.stop()
      const lives = [...registry.all()]
      for (const live of lives) {
        await live.flushed()
        live.abandon(reason)
      }
      await recovery.giveUp(lives)
    },
  }

  /** A message, and with it the webhook that it asks for: nobody is answered before that is saved (B-71). */
  function take(request: SendMessageRequest, context: CallContext, entry: AgentEntry): Promise<Accepted> {
    const asks = request.configuration?.taskPushNotificationConfig !== undefined
    return asks && push !== undefined ? takeWithPush(push, request, context, entry) : accept(request, context, entry)
  }

  async function takeWithPush(
    { prepare, attach }: Push,
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
  ): Promise<Accepted> {
    const inline = await prepare(request, context)
    const accepted = await accept(request, context, entry)
    if (inline !== undefined && 'live' in accepted) await attach(inline, accepted, request.message.messageId)
    return accepted
  }

  function entryOf({ agent }: CallContext): AgentEntry {
    if (closing) throw new A2AError('UNAVAILABLE', 'The server is going down')
    const entry = parts.agent(agent)
    if (entry === undefined) throw noSuchAgent()
    return entry
  }

  async function findOwn(id: string, context: CallContext): Promise<Live> {
    return checkOwner(await registry.find(id), id, context)
  }

  async function findAny(id: string): Promise<Live> {
    if (closing) throw new A2AError('UNAVAILABLE', 'The server is going down')
    const live = await registry.find(id)
    if (live === undefined || !live.opened) throw taskNotFound(id)
    return live
  }

  async function cancel(live: Live, request: CancelTaskRequest, again: 'answer' | 'refuse'): Promise<Task> {
    const entry = parts.agent(live.partition.agent)
    const run = runOf(live)
    const waited = run === undefined && isInterrupted(live.fold.status.state)
    const task = await cancelTask(live, run, request, entry?.options.cancelGraceMs ?? 0, again)
    if (waited) tellAbandoned(live, entry, log)
    return task
  }

  async function view(taskId: string): Promise<Task | undefined> {
    const live = await registry.find(taskId)
    return live?.opened === true ? viewOf(live.fold) : undefined
  }

  /** Whoever took it up would have to fail it. */
  function mustFinish({ entry: { agent } }: Run): boolean {
    return typeof agent === 'function' || agent.resume === 'fail'
  }

  function runOf(live: Live): Run | undefined {
    return runs.get(live.id)
  }

  function startRun(live: Live, given: AgentEntry, input: TurnInput): Run {
    if (closing) throw new A2AError('UNAVAILABLE', 'The server is going down')
    // It broke since it was found: whatever a run on it said would be lost.
    if (live.broken !== undefined) throw new A2AError('UNAVAILABLE', 'The task cannot be written now')
    // It may have been replaced while the message was looked at: the one that went is not begun with any more.
    const current = (): AgentEntry => parts.agent(live.partition.agent) ?? given
    const entry = current()
    const run = start(
      {
        live,
        entry,
        log,
        jsonNodes: parts.limits.jsonNodes,
        now,
        monotonicNow,
        expireInput: () => void recovery.expireInput(live),
        isReplaced: () => current() !== entry,
        // Others would begin it at once. Alone, it is begun here or at the next start.
        isClosing: () => closing && shared,
        conversation,
        referenced,
      },
      input,
    )
    runs.set(live.id, run)
    void run.finished.then(() => {
      if (runs.get(live.id) === run) runs.delete(live.id)
      if (draining && nextTurn(live) !== undefined) void recovery.giveUp([live])
      else resumeIfMessagesWait(live, entry)
    })
    return run
  }

  /** A message can come between a run's last look and its end; nobody else would take it up. */
  function resumeIfMessagesWait(live: Live, entry: AgentEntry): void {
    if (closing || live.broken !== undefined || !live.owned || isTerminal(live.fold.status.state)) return
    const next = nextTurn(live)
    if (next !== undefined && runs.get(live.id) === undefined) startRun(live, entry, next)
  }

  async function conversation(live: Live): Promise<readonly Task[]> {
    const rows = await store.context(live.partition, live.fold.contextId, maxRelated)
    const tasks = await Promise.all(rows.filter(({ id }) => id !== live.id).map(({ id }) => view(id)))
    return tasks.filter((task) => task !== undefined)
  }

  async function referenced(live: Live, message: Message): Promise<readonly Task[]> {
    const ids = [...new Set(message.referenceTaskIds ?? [])].slice(0, maxRelated)
    const lives = await Promise.all(ids.map((id) => registry.find(id)))
    const { tenant, agent, owner } = live.partition
    return lives
      .filter((found) => found !== undefined)
      .filter(({ partition: of }) => of.tenant === tenant && of.agent === agent && of.owner === owner)
      .map((found) => viewOf(found.fold))
  }

  function lost(live: Live, reason: unknown): void {
    registry.forget(live)
    runs.get(live.id)?.stop(interrupted(reason))
    if (closing || reason instanceof DuplicateMessage) return
    log.error('a task could not be written', { taskId: live.id, cause: reason })
    recovery.remember(live.id)
  }
}

/** What an agent is told when its task can no longer be written from here. */
function interrupted(cause: unknown): A2AError {
  return cause instanceof A2AError ? cause : new A2AError('INTERRUPTED', 'The task was interrupted', {}, { cause })
}

function checkStreaming({ streaming }: AgentEntry): void {
  if (!streaming)
    throw new A2AError('UNSUPPORTED_OPERATION', 'This operation is not supported: the agent does not stream')
}

async function* single(item: StreamItem): EventStream & AsyncGenerator<readonly StreamItem[]> {
  yield [item]
}
