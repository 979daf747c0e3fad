/**
 * Queues spans for a collector: bounded, in batches, one batch at a time. Ending a span never waits; spans that do not fit are
 * dropped and counted.
 */
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'

export interface SpanQueue extends SpanProcessor {
  /** Totals so far. */
  readonly counts: Readonly<Record<'exported' | 'dropped' | 'failed', number>>
}

export interface SpanQueueDeps {
  readonly exporter: SpanExporter
  /** Called when the collector starts to fail, and again for each failure after a success. */
  onFailure(cause: unknown): void
  readonly maxWaiting?: number
  readonly batch?: number
  readonly everyMs?: number
  readonly closeMs?: number
}

export function createSpanQueue(parts: SpanQueueDeps): SpanQueue {
  const { exporter, maxWaiting = 4_096, batch = 512, everyMs = 1_000, closeMs = 3_000 } = parts
  const counts = { exported: 0, dropped: 0, failed: 0 }
  let waiting: ReadableSpan[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let sending: Promise<void> | undefined
  let isFailing = false
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
      // 0 is success; the code of the library, which is not loaded here.
      resolve((code as number) === 0 ? undefined : (error ?? new Error('not taken'))),
    )
    const failure = await promise
    counts[failure === undefined ? 'exported' : 'failed'] += spans.length
    if (failure !== undefined && !isFailing) parts.onFailure(failure)
    isFailing = failure !== undefined
  }

  async function flush(): Promise<void> {
    await sending
    while (waiting.length > 0) await send()
  }

  return {
    counts,
    onStart() {},
    onEnd(span) {
      if (waiting.length >= maxWaiting || isClosed) {
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
      // The newest spans matter most; an unavailable collector is not waited for.
      await Promise.race([flush(), late.promise])
      clearTimeout(giveUp)
      isClosed = true
      counts.dropped += waiting.length
      waiting = []
      await Promise.race([exporter.shutdown(), late.promise])
    },
  }
}
