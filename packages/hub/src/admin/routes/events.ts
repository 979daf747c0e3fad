/** `/admin/events`: changes as server-sent events. `Last-Event-ID` resumes after that event, also after a restart. */
import type { ServerResponse } from 'node:http'
import { keepAlive, linkSignals, sseHeaders } from '@parley/a2a/internal'
import { z } from 'zod'
import { isoTime } from '../../http/json-response.ts'
import type { Observer } from '../../telemetry/observer.ts'
import { parseFeedCursor, formatFeedCursor } from '../change-feed.ts'
import type { ChangeFeed, ChangeEvent, FeedCursor } from '../change-feed.ts'
import { type AdminRoute, streamRoute, taggedRoutes } from '../route.ts'
import { taskSummaryOf, taskSummary } from '../task-view.ts'

export interface EventRoutesDeps {
  readonly feed: ChangeFeed
  readonly observer: Pick<Observer, 'follow'>
  /** Aborted when the hub closes. */
  readonly closing: AbortSignal
  readonly instance: string
  readonly version: string
  /** Of the costs that the console shows. */
  readonly currency: string
  readonly now: () => number
}

/** Changes within this time are combined. */
const tickMs = 200
/** Other processes may have written to the same store. */
const pollMs = 2_000
const keepAliveMs = 15_000
/** A client that reads nothing is disconnected at this size, and resumes from its last cursor. */
const maxBufferedBytes = 1_000_000

export const eventStreamHeaders = {
  ...sseHeaders,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

export function eventRoutes(parts: EventRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Events', [
    streamRoute('GET /admin/events', {
      name: 'followChanges',
      summary: 'Streams changes of tasks, agents, the configuration and webhooks.',
      description:
        'Starts now, or after `Last-Event-ID`. `ready` is first and names the hub process; `reset`: events were missed, reload everything; `tasks`: more tasks changed than are listed one by one.',
      query: z.strictObject({
        lastEventId: z.string().max(40).optional().describe('For clients that cannot set Last-Event-ID.'),
      }),
      events: {
        ready: z.strictObject({ instance: z.string(), version: z.string(), currency: z.string(), at: z.string() }),
        task: taskSummary,
        tasks: z.strictObject({ count: z.int() }),
        agent: z.strictObject({ agent: z.string() }),
        config: z.strictObject({}),
        push: z.strictObject({ taskId: z.string(), configId: z.string() }),
        reset: z.strictObject({}),
      },
      async stream({ query, request, signal }, response) {
        const lastCursor = parseFeedCursor(request.header('last-event-id') ?? query.lastEventId)
        const isKnown = lastCursor !== undefined && (await parts.feed.canResume(lastCursor))
        const cursor = lastCursor !== undefined && isKnown ? lastCursor : await parts.feed.end()
        response.writeHead(200, eventStreamHeaders)
        if (request.method === 'HEAD') return void response.end()
        const isMissed = lastCursor !== undefined && !isKnown
        response.write(
          `retry: 1000\n${formatEvents([['ready', ready()], ...(isMissed ? [['reset', {}] as const] : [])], cursor)}`,
        )
        const either = linkSignals([signal, parts.closing])
        void follow(cursor, response, either.signal).finally(either.end)
      },
    }),
  ])

  function ready(): object {
    const { instance, version, currency, now } = parts
    return { instance, version, currency, at: isoTime(now()) }
  }

  async function follow(from: FeedCursor, response: ServerResponse, signal: AbortSignal): Promise<void> {
    let cursor = from
    let lastWriteAt = performance.now()
    let hasChanges = true
    let wake = (): void => {}
    const stopFollowing = parts.observer.follow('write', () => {
      hasChanges = true
      wake()
    })
    try {
      while (!signal.aborted) {
        hasChanges = false
        const { events: news, cursor: next, hasMore } = await parts.feed.after(cursor)
        cursor = next
        if (response.writableLength > maxBufferedBytes) return void response.destroy()
        if (news.length > 0) {
          response.write(
            formatEvents(
              news.map((one) => [one.type, dataOf(one)]),
              cursor,
            ),
          )
          lastWriteAt = performance.now()
        } else if (performance.now() - lastWriteAt >= keepAliveMs) {
          response.write(keepAlive)
          lastWriteAt = performance.now()
        }
        // A change that came while the feed was read is not waited for.
        if (!hasMore && !hasChanges) await delay(pollMs, signal, (end) => (wake = end))
        await delay(tickMs, signal)
      }
    } catch {
      // The store is unavailable for a moment: the client reconnects with its last cursor.
    } finally {
      stopFollowing()
    }
    response.end()
  }
}

/** Only the last event carries the cursor: a client that receives half of a batch receives all of it again. */
function formatEvents(events: readonly (readonly [name: string, data: object])[], cursor: FeedCursor): string {
  const frames = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  return [...frames.slice(0, -1), `id: ${formatFeedCursor(cursor)}\n`, ...frames.slice(-1)].join('')
}

function dataOf(news: ChangeEvent): object {
  if (news.type === 'task') return taskSummaryOf(news.row, news.facts)
  const { type: _, ...data } = news
  return data
}

/** `onStart` gets a function that ends the delay early. */
function delay(ms: number, signal: AbortSignal, onStart?: (end: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    onStart?.(done)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
  })
}
