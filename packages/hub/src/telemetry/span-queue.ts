/**
 * Spans on their way to a collector: so many wait, so many go at once, one batch at a time. Whoever ends a span never waits;
 * what does not fit is dropped, and counted.
 */
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'

export interface SpanQueue extends SpanProcessor {
  /** What became of all so far. */
  readonly counts: Readonly<Record<'exported' | 'dropped' | 'failed', number>>
}

export interface SpanQueueParts {
  readonly exporter: SpanExporter
  /** Told when the collector stops taking them, and once more when that happens again after it went well. */
  troubled(cause: unknown): void
  readonly most?: number
  readonly batch?: number
  readonly everyMs?: number
  readonly closeMs?: number
}

export function createSpanQueue(parts: SpanQueueParts): SpanQueue {
  const { exporter, most = 4_096, batch = 512, everyMs = 1_000, closeMs = 3_000 } = parts
  const counts = { exported: 0, dropped: 0, failed: 0 }
  let waiting: ReadableSpan[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined
  let isTroubled = false
  let isClosed = false

  function schedule(): void {
    if (timer === undefined && sending === undefined) timer = setTimeout(() => void send(), everyMs).unref()
  }

  function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    sending ??= sendBatch().finally(() => {
      sending = undefined
      if (waiting.length > 0 && !isClosed) schedule()
    })
    return sending
  }

  async function sendBatch(): Promise<void> {
    const spans = waiting.slice(0, batch)
    waiting = waiting.slice(batch)
    if (spans.length === 0) return
    const { promise, resolve } = Promise.withResolvers<Error | undefined>()
    exporter.export(spans, ({ code, error }) =>
      // 0 is success; the number is that of the library, which is not loaded here.
      resolve((code as number) === 0 ? undefined : (error ?? new Error('not taken'))),
    )
    const failure = await promise
    counts[failure === undefined ? 'exported' : 'failed'] += spans.length
    if (failure !== undefined && !isTroubled) parts.troubled(failure)
    isTroubled = failure !== undefined
  }

  async function flush(): Promise<void> {
    await sending
    while (waiting.length > 0) await send()
  }

  return {
    counts,
    onStart() {},
    onEnd(span) {
      if (waiting.length >= most || isClosed) {
        counts.dropped += 1
        return
      }
      waiting.push(span)
      if (waiting.length >= batch) void send()
      else schedule()
    },
    forceFlush: flush,
    async shutdown() {
      if (isClosed) return
      const late = Promise.withResolvers<void>()
      const giveUp = setTimeout(late.resolve, closeMs)
      // What came last is the most wanted; a collector that is away is not waited for.
      await Promise.race([flush(), late.promise])
      clearTimeout(giveUp)
      isClosed = true
      counts.dropped += waiting.length
      waiting = []
      await Promise.race([exporter.shutdown(), late.promise])
    },
  }
}
