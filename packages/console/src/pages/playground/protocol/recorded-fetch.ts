/**
 * The fetch of this page for agents: always to the hub that served the page, whatever address a card names; with session cookie
 * and CSRF token; and recorded frame by frame, without secrets.
 */
import type { Fetch } from '@parley/a2a/client'
import type { Json } from '@parley/a2a'
import { redactSecrets } from '../../../conversation/question/build-answer.ts'
import type { Recording, ProtocolLog } from './protocol-log.ts'

export interface RecordedFetchDeps {
  readonly log: ProtocolLog
  readonly origin: string
  csrf(): string
  /** Values being sent that must not be shown. */
  secrets(): readonly Json[]
  readonly fetch?: typeof globalThis.fetch
}

const redactedHeader = '(not shown)'

export function createRecordedFetch({
  log,
  origin,
  csrf,
  secrets,
  fetch = globalThis.fetch,
}: RecordedFetchDeps): Fetch {
  return async (request) => {
    const { pathname, search } = new URL(request.url)
    const url = `${origin}${pathname}${search}`
    // As text: browsers cannot stream request bodies over HTTP/1.1.
    const text = request.method === 'GET' || request.method === 'HEAD' ? undefined : await request.text()
    const body = text === '' ? undefined : text
    const headers = new Headers(request.headers)
    headers.set('x-csrf-token', csrf())
    const recording = log.startExchange({
      method: request.method,
      url,
      headers: [...headers].map(
        ([name, value]) => [name, /csrf|authorization/i.test(name) ? redactedHeader : value] as const,
      ),
      body: body === undefined ? undefined : redactBody(body, secrets()),
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
      recording.recordResponse(response.status, [...response.headers])
      return recordResponseBody(response, recording)
    } catch (reason) {
      recording.recordEnd(request.signal.aborted ? 'left' : 'broken')
      throw reason
    }
  }
}

function redactBody(body: string, secrets: readonly Json[]): string {
  return secrets.length === 0 ? body : JSON.stringify(redactSecrets(JSON.parse(body) as Json, secrets))
}

/** The same response, recorded as it is read. Not a tee: when the reader stops, the connection must end. */
function recordResponseBody(response: Response, recording: Recording): Response {
  if (response.body === null || response.type === 'opaqueredirect') {
    recording.recordEnd('whole')
    return response
  }
  const isStream = (response.headers.get('content-type') ?? '').includes('event-stream')
  const splitter = createFrameSplitter()
  const decoder = new TextDecoder()
  let whole = ''
  const take = (piece: string): void => {
    if (isStream) for (const frame of splitter.take(piece)) recording.recordFrame(frame)
    else whole += piece
  }
  const end = (why: 'whole' | 'broken' | 'left'): void => {
    const rest = isStream ? splitter.rest() : whole
    if (rest !== '') recording.recordFrame(rest)
    recording.recordEnd(why)
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

/** Splits a stream into frames at blank lines, including comments, wherever the chunks are split. */
export function createFrameSplitter(): { take(piece: string): readonly string[]; rest(): string } {
  let held = ''
  return {
    take(piece) {
      // A chunk may end between CR and LF.
      const text = (held + piece).replaceAll(/\r\n/g, '\n')
      const frames = text.split(/\n\n+/)
      held = frames.pop() ?? ''
      return frames.filter((frame) => frame !== '').map((frame) => frame.replace(/^\n/, ''))
    },
    rest: () => held.trim(),
  }
}
