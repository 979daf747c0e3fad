/**
 * A remote A2A agent of any version and binding, as an agent of this hub: its card is shown as ours, its tasks are ours
 * with their own ids, and what it says is kept in our log, so that callers of every version are told all of it once.
 */
import type { Abandoned, OpenSpan, Report, SpanOutcome, Turn } from '@parley/a2a'
import type { RemoteAgent } from '@parley/a2a/client'
import { clockOf } from '@parley/a2a/server'
import type { AgentKind } from '../kind.ts'
import { createAddressBook } from './address-book.ts'
import { createBackground } from './background.ts'
import { cardPartOf } from './card-part.ts'
import { createCardWatch } from './card-watch.ts'
import { a2aEntry } from './entry.ts'
import type { A2AEntry } from './entry.ts'
import { failureOf } from './failure.ts'
import { createHooks } from './hooks.ts'
import type { Beginning } from './line.ts'
import { onBehalfOf } from './outgoing.ts'
import { pause } from './pause.ts'
import { firstPlace, placeIn } from './place.ts'
import type { Place } from './place.ts'
import { watchStop } from './stopping.ts'
import { talk } from './talk.ts'
import { createUpstream } from './upstream.ts'

export const a2aKind: AgentKind<A2AEntry> = {
  kind: 'a2a',
  schema: a2aEntry,
  // What others run may take its time, and survives our restarts.
  turnTimeoutMs: 3_600_000,
  open(entry, parts) {
    const watch = createCardWatch(entry, parts)
    const upstream = createUpstream(entry, parts, watch)
    const hooks = createHooks(parts)
    const lineParts = { entry, upstream, hooks, book: createAddressBook(parts), house: parts.house, ...clockOf(parts) }
    const background = createBackground()

    return {
      agent: { resume: 'reattach', run, reattach, abandon },
      extensions: entry.extensions.map((uri) => ({ uri })),
      look: async (signal) => cardPartOf(await upstream.look(signal)),
      ...(entry.pushFrom === 'auto' ? { hook: (request) => hooks.handle(request) } : {}),
      health: (signal) => upstream.reach(signal),
      cardWatch: watch,
      async close() {
        await background.close()
        upstream.close()
      },
    }

    async function* run(turn: Turn): AsyncGenerator<Report, void, undefined> {
      const remote = await upstream.remote(turn.signal)
      const first = firstPlace(turn)
      // Before anything is begun: it may have to be refused.
      await parts.house.onward(turn, { card: remote.card, messageId: first.messageId })
      const span = openSpan(turn, undefined)
      const { spanId, startedAt } = span
      const place = { ...first, span: { spanId, startedAt } }
      await turn.checkpoint(place)
      turn.signal.throwIfAborted()
      yield* talkTo({ remote, place, span, isResumed: false }, turn)
    }

    async function* reattach(turn: Turn): AsyncGenerator<Report, void, undefined> {
      const place = placeIn(turn.resumed?.checkpoint)
      // Whatever is sent is noted first, so nothing was.
      if (place === undefined) return yield* run(turn)
      try {
        const remote = await patiently(turn)
        yield* talkTo({ remote, place, span: openSpan(turn, place.span), isResumed: true }, turn)
      } catch (reason) {
        turn.signal.throwIfAborted()
        yield failureOf(reason, turn)
      }
    }

    async function* talkTo(beginning: Beginning, turn: Turn): AsyncGenerator<Report, void, undefined> {
      const stopping = watchStop(turn, background)
      let last: Report | undefined
      try {
        for await (const report of talk(turn, lineParts, beginning, stopping)) yield (last = report)
      } finally {
        stopping.over()
        beginning.span.end(outcomeOf(last, turn))
      }
    }

    function openSpan(turn: Turn, begun: Place['span']): OpenSpan {
      const attributes = { agent: parts.name }
      return turn.span(`call ${parts.name}`, {
        kind: 'hop',
        attributes,
        ...(begun !== undefined ? { resumed: begun } : {}),
      })
    }

    /** The remote task waits for an answer that will not come. */
    function abandon({ task, caller, remembered, log }: Abandoned): void {
      const taskId = placeIn(remembered)?.taskId
      if (taskId === undefined) return
      const { signal } = background
      const about = { ...onBehalfOf(caller, entry), signal, timeoutMs: entry.answerTimeout }
      const canceling = upstream.remote(signal).then((remote) => remote.cancel(taskId, about))
      background.add(
        canceling.then(
          () => {},
          (cause: unknown) => log.info('the remote agent did not cancel its task', { taskId: task.id, cause }),
        ),
      )
    }

    /** Where both were restarted, the remote agent may take longer than we do. */
    async function patiently(turn: Turn): Promise<RemoteAgent> {
      const until = parts.monotonicNow() + entry.patience
      for (let waitMs = 250; ; waitMs = Math.min(10_000, waitMs * 2)) {
        try {
          return await upstream.remote(turn.signal)
        } catch (reason) {
          turn.signal.throwIfAborted()
          if (parts.monotonicNow() > until) throw reason
        }
        await pause(waitMs, turn.signal)
      }
    }
  },
}

function outcomeOf(last: Report | undefined, { signal }: Turn): SpanOutcome {
  const state = typeof last === 'object' && 'state' in last ? last.state : undefined
  if (state === 'TASK_STATE_CANCELED' || (state === undefined && signal.aborted)) return 'canceled'
  return state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED' ? 'error' : 'ok'
}
