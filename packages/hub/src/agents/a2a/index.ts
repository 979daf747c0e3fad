/**
 * A remote A2A agent of any version and binding, as an agent of this hub. The hub publishes its card as its own, runs its
 * tasks under local ids, and keeps its output in the local log, so that callers of every version receive each event once.
 */
import { A2AError, type AbandonedTask, type Report, type Turn } from '@parley/a2a'
import { type OpenSpan, clockOf, resultWithin } from '@parley/a2a/internal'
import type { RemoteAgent } from '@parley/a2a/client'
import type { AgentKind } from '../kind.ts'
import { createCardWatch, toPartialCard } from './card-watch.ts'
import { a2aEntry, type A2AEntry } from './entry.ts'
import { remoteFailure } from './remote-failure.ts'
import { createPushReceiver } from './push-receiver.ts'
import { callerHeaders } from './message-translation.ts'
import { createRemoteIdMapping, initialCheckpoint, readRemoteCheckpoint, type RemoteCheckpoint } from './checkpoint.ts'
import { isCanceledOrTimedOut, quietSleep } from '../timeouts.ts'
import { runRemoteTurn, type RemoteTurnStart, type TurnCancellation } from './remote-turn.ts'
import { createUpstream } from './upstream.ts'

export const a2aKind: AgentKind<A2AEntry> = {
  kind: 'a2a',
  schema: a2aEntry,
  // Remote agents may take long, and their work survives our restarts.
  turnTimeoutMs: 3_600_000,
  hasRemoteCard: true,
  open(entry, services) {
    const watch = createCardWatch(entry, services)
    const upstream = createUpstream(entry, services, watch)
    const hooks = createPushReceiver(services)
    const turnDeps = {
      entry,
      upstream,
      pushReceiver: hooks,
      idMapping: createRemoteIdMapping(services),
      inProcessClient: services.inProcessClient,
      ...clockOf(services),
    }
    const background = createBackgroundWork()

    return {
      agent: { resume: 'reattach', run, reattach, onAbandoned: abandon },
      extensions: entry.extensions.map((uri) => ({ uri })),
      fetchCard: async (signal) => toPartialCard(await upstream.fetchCard(signal)),
      ...(entry.pushFrom === 'auto' ? { handleWebhook: (request) => hooks.handle(request) } : {}),
      health: (signal) => upstream.ping(signal),
      cardWatch: watch,
      async close() {
        await background.close()
        upstream.close()
      },
    }

    function run(turn: Turn): AsyncGenerator<Report, void, undefined> {
      return runRemoteTurn(turn, turnDeps, () => startTurn(turn))
    }

    async function startTurn(turn: Turn): Promise<RemoteTurnStart> {
      const remote = await upstream.remote(turn.signal)
      const initial = initialCheckpoint(turn)
      // Checked before anything starts, because the call may be refused.
      const { messageId } = initial
      const firstHopToken = await services.inProcessClient.hopTokenFor(turn, { card: remote.card, messageId })
      const span = openSpan(turn, undefined)
      const { spanId, startedAt } = span
      const checkpoint = { ...initial, span: { spanId, startedAt } }
      // The store reads while it writes.
      const [contextId] = await Promise.all([
        initial.taskId === undefined ? turnDeps.idMapping.remoteContextId(turn) : undefined,
        turn.checkpoint(checkpoint),
      ])
      turn.signal.throwIfAborted()
      const cancellation = watchCancellation(turn, background)
      return { remote, checkpoint, span, cancellation, isResumed: false, contextId, firstHopToken }
    }

    async function* reattach(turn: Turn): AsyncGenerator<Report, void, undefined> {
      const checkpoint = readRemoteCheckpoint(turn.resumed?.checkpoint)
      // A checkpoint is written before anything is sent, so nothing was sent.
      if (checkpoint === undefined) return yield* run(turn)
      try {
        yield* runRemoteTurn(turn, turnDeps, async () => {
          const remote = await remoteWithRetry(turn)
          const span = openSpan(turn, checkpoint.span)
          return { remote, checkpoint, span, cancellation: watchCancellation(turn, background), isResumed: true }
        })
      } catch (reason) {
        turn.signal.throwIfAborted()
        yield remoteFailure(reason, turn)
      }
    }

    function openSpan(turn: Turn, begun: RemoteCheckpoint['span']): OpenSpan {
      const attributes = { agent: services.name }
      return turn.span(`call ${services.name}`, {
        kind: 'hop',
        attributes,
        ...(begun !== undefined ? { resumed: begun } : {}),
      })
    }

    /** The remote task waits for an answer that will not come. */
    function abandon({ task, caller, lastCheckpoint, log }: AbandonedTask): void {
      const taskId = readRemoteCheckpoint(lastCheckpoint)?.taskId
      if (taskId === undefined) return
      const { signal } = background
      const about = { ...callerHeaders(caller, entry), signal, timeoutMs: entry.answerTimeout }
      const canceling = upstream.remote(signal).then((remote) => remote.cancel(taskId, about))
      background.add(
        canceling.then(
          () => {},
          (cause: unknown) => log.info('the remote agent did not cancel its task', { taskId: task.id, cause }),
        ),
      )
    }

    /** If both sides restarted, the remote agent may take longer than this hub. */
    async function remoteWithRetry(turn: Turn): Promise<RemoteAgent> {
      const until = services.monotonicNow() + entry.reconnectTimeout
      for (let waitMs = 250; ; waitMs = Math.min(10_000, waitMs * 2)) {
        try {
          return await upstream.remote(turn.signal)
        } catch (reason) {
          turn.signal.throwIfAborted()
          if (services.monotonicNow() > until) throw reason
        }
        await quietSleep(waitMs, turn.signal)
      }
    }
  },
}

/** Time for the remote agent to name its task, to cancel it, and to send its final events. */
const graceMs = 5_000
/** Time to wait for the final events of a canceled task. */
const finalEventsMs = 500

/**
 * Stops a turn. If the caller canceled the task or it timed out, the remote task is canceled too. If the hub shuts down, it
 * only disconnects, because the turn resumes later. Cancellation may continue after the turn has ended.
 */
function watchCancellation(turn: Turn, background: BackgroundWork): TurnCancellation {
  const stopReading = new AbortController()
  const known = Promise.withResolvers<(() => Promise<unknown>) | undefined>()
  const ended = Promise.withResolvers<void>()
  const stop = (): void => {
    if (isCanceledOrTimedOut(turn.signal)) background.add(cancelRemoteTask())
    else stopReading.abort(turn.signal.reason)
  }
  if (turn.signal.aborted) stop()
  else turn.signal.addEventListener('abort', stop, { once: true })

  return {
    signal: stopReading.signal,
    setRemoteTask(remote, taskId, options) {
      known.resolve(() => remote.cancel(taskId, { ...options, signal: background.signal, timeoutMs: graceMs }))
    },
    end() {
      turn.signal.removeEventListener('abort', stop)
      known.resolve(undefined)
      ended.resolve()
    },
  }

  async function cancelRemoteTask(): Promise<void> {
    const cancel = await resultWithin(known.promise, graceMs)
    try {
      await cancel?.()
      if (cancel !== undefined) await resultWithin(ended.promise, finalEventsMs)
    } catch (reason) {
      turn.log.info('the remote agent did not cancel its task', { taskId: turn.task.id, cause: reason })
      // The remote task may have ended first. Then its result is reported instead.
      if (reason instanceof A2AError && reason.code === 'TASK_NOT_CANCELABLE')
        await resultWithin(ended.promise, graceMs)
    }
    stopReading.abort(turn.signal.reason)
  }
}

/** Work that continues after its turn has ended, such as canceling a remote task. */
interface BackgroundWork {
  add(work: Promise<void>): void
  readonly signal: AbortSignal
  /** Waits a short time for the work, then aborts it. */
  close(): Promise<void>
}

/** A remote agent that does not answer must not block the shutdown of the hub. */
const closeGraceMs = 1_000

function createBackgroundWork(): BackgroundWork {
  const closing = new AbortController()
  const working = new Set<Promise<void>>()
  return {
    signal: closing.signal,
    add(work) {
      working.add(work)
      void work.finally(() => working.delete(work))
    },
    async close() {
      await resultWithin(Promise.all(working), closeGraceMs)
      closing.abort(new Error('the agent is being closed'))
      await Promise.all(working)
    },
  }
}
