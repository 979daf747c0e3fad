/**
 * A server without a socket whose streams fray: they are cut after so many events, and show only as much as another
 * kind of peer would. What our own server does well can be taken away from it here, one thing at a time.
 */
export interface Fraying {
  /** Every stream ends after so many events. */
  readonly afterEvents?: number
  /** How: in good order, or as a connection that breaks. */
  readonly by?: 'end' | 'break'
  /** As of a peer that gives no cursors and takes none. */
  readonly withoutIds?: boolean
  /** As of a 0.x peer whose subscriptions go on from now and do not show the task. */
  readonly withoutSnapshot?: boolean
  /** Is told of every request, and may answer it instead. */
  answer?(call: FrayedCall): Response | undefined
}

export interface FrayedCall {
  readonly isStream: boolean
  readonly lastEventId: string | undefined
  /** The JSON-RPC method, or verb and path. */
  readonly operation: string
}

type Fetch = (request: Request) => Promise<Response>

export function frayedFetch(fetch: Fetch, fraying: Fraying): Fetch {
  return async (request) => {
    const body = await request.clone().text()
    const headers = new Headers(request.headers)
    const { pathname } = new URL(request.url)
    const operation = /"method":"([^"]+)"/.exec(body)?.[1] ?? `${request.method} ${pathname}`
    const isStream = headers.get('accept')?.includes('event-stream') === true
    const instead = fraying.answer?.({
      isStream,
      operation,
      lastEventId: headers.get('last-event-id') ?? undefined,
    })
    if (instead !== undefined) return instead
    if (fraying.withoutIds === true) headers.delete('last-event-id')
    const response = await fetch(new Request(request, { headers }))
    const { body: stream } = response
    if (stream === null || response.headers.get('content-type') !== 'text/event-stream') return response
    const isSubscription = /subscribe/i.test(operation)
    return new Response(frayed(stream, fraying, isSubscription), { headers: response.headers })
  }
}

function frayed(
  source: ReadableStream<Uint8Array>,
  { afterEvents = Infinity, by = 'end', withoutIds = false, withoutSnapshot = false }: Fraying,
  isSubscription: boolean,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  const reader = source.getReader()
  let text = ''
  let events = 0
  let skips = withoutSnapshot && isSubscription ? 1 : 0
  return new ReadableStream({
    async pull(to) {
      if (events >= afterEvents) return cut(to)
      for (;;) {
        const end = text.indexOf('\n\n') + 2
        if (end >= 2) {
          const frame = text.slice(0, end)
          text = text.slice(end)
          if (frame.includes('data: ') && skips-- > 0) continue
          if (frame.includes('data: ')) events += 1
          return to.enqueue(encoder.encode(withoutIds ? frame.replace(/^id: .*\n/m, '') : frame))
        }
        const { done, value } = await reader.read()
        if (done) return to.close()
        text += decoder.decode(value, { stream: true })
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })

  async function cut(to: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (by === 'end') to.close()
    else to.error(new TypeError('terminated'))
    await reader.cancel()
  }
}
