/** `/admin/logs`: the last lines of this process's log, and those that follow, as server-sent events. */
import type { ServerResponse } from 'node:http'
import { keepAlive, linkSignals } from '@parley/a2a/internal'
import { z } from 'zod'
import { RouteError } from '../../http/json-response.ts'
import { logLevels } from '../../telemetry/logs/hub-log.ts'
import type { BufferedLine, LogBuffer } from '../../telemetry/logs/log-buffer.ts'
import { type AdminRoute, limitField, streamRoute, taggedRoutes, timestamp } from '../route.ts'
import { eventStreamHeaders } from './events.ts'

export interface LogRoutesDeps {
  /** `undefined` if the program that runs the hub keeps no log. */
  readonly logBuffer: LogBuffer | undefined
  /** Aborted when the hub closes. */
  readonly closing: AbortSignal
}

const keepAliveMs = 15_000
/** Several times the size of the buffer. */
const maxUnsentBytes = 8_000_000

export function logRoutes({ logBuffer, closing }: LogRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Logs', [
    streamRoute('GET /admin/logs', {
      name: 'followLogs',
      summary: 'Streams the log of this process: its last lines, and new ones.',
      description:
        'Each hub process has its own log, and keeps its last 1,000 lines. Secrets are redacted. `Last-Event-ID` resumes after that line.',
      query: z.strictObject({
        tail: limitField(100, 1_000).describe('How many of the last lines come first. Default 100.'),
        level: z.enum(['debug', 'info', 'warn', 'error']).default('debug').describe('The lowest level.'),
        follow: z.enum(['yes', 'no']).default('yes').describe('no: the stream ends after the last line.'),
      }),
      events: {
        line: z.looseObject({ time: timestamp, level: z.string(), message: z.string() }),
      },
      stream({ query, request, signal }, response) {
        if (logBuffer === undefined) throw new RouteError('NOT_FOUND', 'This hub keeps no log')
        const isShown = ({ level }: BufferedLine): boolean => logLevels.indexOf(level) >= logLevels.indexOf(query.level)
        const all = logBuffer.after(0)
        const lastPosition = positionOf(request.header('last-event-id'), logBuffer.id)
        const shown = all.filter((line) => line.position > (lastPosition ?? 0) && isShown(line))
        const first = lastPosition === undefined ? shown.slice(-query.tail) : shown
        response.writeHead(200, eventStreamHeaders)
        if (request.method === 'HEAD') return void response.end()
        response.write(`retry: 1000\n\n${format(first, logBuffer.id)}`)
        if (query.follow === 'no') return void response.end()
        const either = linkSignals([signal, closing])
        const from = all.at(-1)?.position ?? 0
        void follow(logBuffer, { isShown, from }, response, either.signal).finally(either.end)
      },
    }),
  ])
}

interface FollowOptions {
  readonly from: number
  isShown(line: BufferedLine): boolean
}

async function follow(
  logBuffer: LogBuffer,
  { from, isShown }: FollowOptions,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  let position = from
  while (!signal.aborted) {
    const lines = logBuffer.after(position)
    position = lines.at(-1)?.position ?? position
    const shown = lines.filter(isShown)
    if (shown.length > 0) response.write(format(shown, logBuffer.id))
    else if (lines.length === 0 && !(await nextLine(logBuffer, signal))) response.write(keepAlive)
    // A client that reads nothing is disconnected, and resumes from its last line. Not before the lines of the buffer could be sent.
    if (response.writableLength > maxUnsentBytes) return void response.destroy()
  }
  response.end()
}

/** Resolves with whether a line was added; with `false` after the keep-alive interval. */
function nextLine(logBuffer: LogBuffer, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (hasLine: boolean): void => {
      clearTimeout(timer)
      stop()
      signal.removeEventListener('abort', aborted)
      resolve(hasLine)
    }
    const aborted = (): void => end(true)
    const timer = setTimeout(() => end(false), keepAliveMs)
    const stop = logBuffer.onNext(() => end(true))
    signal.addEventListener('abort', aborted, { once: true })
  })
}

/** The position in the id of an event; `undefined` if it is of another process. */
function positionOf(eventId: string | undefined, bufferId: string): number | undefined {
  const [id, position = ''] = eventId?.split('-') ?? []
  return id === bufferId && /^\d{1,15}$/.test(position) ? Number(position) : undefined
}

function format(lines: readonly BufferedLine[], bufferId: string): string {
  return lines.map(({ position, json }) => `id: ${bufferId}-${position}\nevent: line\ndata: ${json}\n\n`).join('')
}
