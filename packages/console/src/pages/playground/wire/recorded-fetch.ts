/**
 * The way out of this page to the agents: always to the hub that served it, whatever address a card names; with both halves of the
 * session; and written down on the way, frame by frame, without what is secret.
 */
import type { Fetch } from '@parley/a2a/client'
import type { Json } from '@parley/a2a'
import { concealed } from '../../../conversation/question/answer-to.ts'
import { createFrameSplitter } from './frame-splitter.ts'
import type { Recording, WireLog } from './wire-log.ts'

export interface FetchParts {
  readonly log: WireLog
  readonly origin: string
  csrf(): string
  /** What is being sent and must not be seen. */
  secrets(): readonly Json[]
  readonly fetch?: typeof globalThis.fetch
}

const hidden = '(not shown)'

export function recordedFetch({ log, origin, csrf, secrets, fetch = globalThis.fetch }: FetchParts): Fetch {
  return async (request) => {
    const { pathname, search } = new URL(request.url)
    const url = `${origin}${pathname}${search}`
    // As text: browsers send no streams to servers of HTTP/1.1.
    const text = request.method === 'GET' || request.method === 'HEAD' ? undefined : await request.text()
    const body = text === '' ? undefined : text
    const headers = new Headers(request.headers)
    headers.set('x-csrf-token', csrf())
    const recording = log.begin({
      method: request.method,
      url,
      headers: [...headers].map(([name, value]) => [name, /csrf|authorization/i.test(name) ? hidden : value] as const),
      body: body === undefined ? undefined : shown(body, secrets()),
    })
    try {
      const response = await fetch(url, {
        method: request.method,
        headers,
        credentials: 'same-origin',
        redirect: 'manual',
        signal: request.signal,
        ...(body === undefined ? {} : { body }),
      })
      recording.answered(response.status, [...response.headers])
      return watched(response, recording)
    } catch (reason) {
      recording.ended(request.signal.aborted ? 'left' : 'broken')
      throw reason
    }
  }
}

function shown(body: string, secrets: readonly Json[]): string {
  return secrets.length === 0 ? body : JSON.stringify(concealed(JSON.parse(body) as Json, secrets))
}

/** The same answer, looked at as it is read. Not a tee: whoever stops reading has to end the connection. */
function watched(response: Response, recording: Recording): Response {
  if (response.body === null || response.type === 'opaqueredirect') {
    recording.ended('whole')
    return response
  }
  const isStream = (response.headers.get('content-type') ?? '').includes('event-stream')
  const splitter = createFrameSplitter()
  const decoder = new TextDecoder()
  let whole = ''
  const take = (piece: string): void => {
    if (isStream) for (const frame of splitter.take(piece)) recording.frame(frame)
    else whole += piece
  }
  const end = (why: 'whole' | 'broken' | 'left'): void => {
    const rest = isStream ? splitter.rest() : whole
    if (rest !== '') recording.frame(rest)
    recording.ended(why)
  }
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          end('whole')
          controller.close()
          return
        }
        take(decoder.decode(value, { stream: true }))
        controller.enqueue(value)
      } catch (reason) {
        end('broken')
        controller.error(reason)
      }
    },
    async cancel(reason) {
      end('left')
      await reader.cancel(reason)
    },
  })
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}
