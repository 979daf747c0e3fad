/** `/admin/events`: what changes, as server-sent events. `Last-Event-ID` goes on where one was, also after a restart. */
import type { ServerResponse } from 'node:http'
import { linkSignals } from '@parley/a2a'
import { z } from 'zod'
import { time } from '../answer.ts'
import type { Bell } from '../bell.ts'
import { type Feed, type News, type Place, readPlace, writePlace } from '../feed.ts'
import { type Route, streamRoute } from '../route.ts'
import { summaryOf, taskSummary } from '../task-view.ts'

export interface EventRouteParts {
  readonly feed: Feed
  /** Rung when something may have changed. */
  readonly bell: Bell
  /** Aborted when the hub closes. */
  readonly closing: AbortSignal
  readonly instance: string
  readonly version: string
  readonly now: () => number
}

/** What is gathered into one. */
const tickMs = 200
/** Others may have written to the same store. */
const pollMs = 2_000
const keepAliveMs = 15_000
/** Who takes nothing for so long is let go of, and comes back with what it has. */
const mostWaitingBytes = 1_000_000

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}

export function eventRoutes(parts: EventRouteParts): readonly Route[] {
  return [
    streamRoute({
      method: 'GET',
      path: '/admin/events',
      name: 'followChanges',
      summary: 'Follows what changes: tasks, agents, the configuration, webhooks.',
      description:
        'Begins now, or after `Last-Event-ID`. `ready` comes first, with the hub that answers; `reset` says that something was missed and everything should be looked at anew; `tasks` that more tasks changed than are told one by one.',
      tag: 'Events',
      query: z.strictObject({
        lastEventId: z.string().max(40).optional().meta({ description: 'For those who cannot set Last-Event-ID.' }),
      }),
      events: {
        ready: z.strictObject({ instance: z.string(), version: z.string(), at: z.string() }),
        task: taskSummary,
        tasks: z.strictObject({ count: z.int() }),
        agent: z.strictObject({ agent: z.string() }),
        config: z.strictObject({}),
        push: z.strictObject({ taskId: z.string(), configId: z.string() }),
        reset: z.strictObject({}),
      },
      async stream({ query, request, signal }, response) {
        const told = readPlace(request.header('last-event-id') ?? query.lastEventId)
        const isKnown = told !== undefined && (await parts.feed.reaches(told))
        const place = told !== undefined && isKnown ? told : await parts.feed.end()
        response.writeHead(200, headers)
        if (request.method === 'HEAD') return void response.end()
        const isLost = told !== undefined && !isKnown
        response.write(
          `retry: 1000\n${written([['ready', ready()], ...(isLost ? [['reset', {}] as const] : [])], place)}`,
        )
        const either = linkSignals([signal, parts.closing])
        void follow(place, response, either.signal).finally(either.end)
      },
    }),
  ]

  function ready(): object {
    return { instance: parts.instance, version: parts.version, at: time(parts.now()) }
  }

  async function follow(from: Place, response: ServerResponse, signal: AbortSignal): Promise<void> {
    let place = from
    let spokeAt = performance.now()
    try {
      while (!signal.aborted) {
        const heard = parts.bell.strokes()
        const { news, place: next, hasMore } = await parts.feed.after(place)
        place = next
        if (response.writableLength > mostWaitingBytes) return void response.destroy()
        if (news.length > 0) {
          response.write(
            written(
              news.map((one) => [one.type, dataOf(one)]),
              place,
            ),
          )
          spokeAt = performance.now()
        } else if (performance.now() - spokeAt >= keepAliveMs) {
          response.write(': keep-alive\n\n')
          spokeAt = performance.now()
        }
        if (!hasMore) await parts.bell.wait(heard, pollMs, signal)
        await rest(tickMs, signal)
      }
    } catch {
      // The store is away for a moment: whoever follows comes back with the place it has.
    }
    response.end()
  }
}

/** The place stands with the last: who hears half of them hears all of them again. */
function written(events: readonly (readonly [name: string, data: object])[], place: Place): string {
  const frames = events.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  return [...frames.slice(0, -1), `id: ${writePlace(place)}\n`, ...frames.slice(-1)].join('')
}

function dataOf(news: News): object {
  if (news.type === 'task') return summaryOf(news.row, news.title)
  const { type: _, ...data } = news
  return data
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
  })
}
