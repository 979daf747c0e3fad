/** The protocol log: bounded, published to the page at most once per animation frame, and without secrets. */
import { signal, type ReadonlySignal } from '@preact/signals'
import { oncePerFrame } from '../once-per-frame.ts'
import type { Exchange } from './exchange.ts'

const maxExchanges = 60
const maxFrames = 6_000
const maxBytes = 16_000_000

export interface ProtocolLog {
  readonly exchanges: ReadonlySignal<readonly Exchange[]>
  startExchange(request: Pick<Exchange, 'method' | 'url' | 'headers' | 'body'>): Recording
  clear(): void
}

export interface Recording {
  recordResponse(status: number, headers: Exchange['headers']): void
  recordFrame(text: string): void
  recordEnd(why: 'whole' | 'broken' | 'left'): void
}

type MutableExchange = { -readonly [K in keyof Exchange]: Exchange[K] } & { bytes: number }

export function createProtocolLog(now: () => number = Date.now): ProtocolLog {
  const exchanges = signal<readonly Exchange[]>([])
  let kept: MutableExchange[] = []
  let count = 0
  const show = oncePerFrame(() => {
    exchanges.value = kept.map((one) => ({ ...one }))
  })

  /** Drops many frames at once, so that a long stream is not copied for every frame. */
  function dropOldFrames(one: MutableExchange): void {
    if (one.frames.length <= maxFrames && (one.bytes <= maxBytes || one.frames.length === 1)) return
    const gone = one.frames.slice(0, Math.ceil(one.frames.length / 10))
    one.frames = one.frames.slice(gone.length)
    one.droppedFrames += gone.length
    one.bytes -= gone.reduce((sum, { text }) => sum + text.length, 0)
  }

  return {
    exchanges,
    startExchange(request) {
      count += 1
      const sentAt = now()
      const one: MutableExchange = {
        ...request,
        id: count,
        sentAt,
        response: undefined,
        frames: [],
        droppedFrames: 0,
        ended: undefined,
        bytes: 0,
      }
      kept = [...kept.slice(1 - maxExchanges), one]
      show()
      return {
        recordResponse(status, headers) {
          one.response = { status, headers, afterMs: now() - sentAt }
          show()
        },
        recordFrame(text) {
          ;(one.frames as { afterMs: number; text: string }[]).push({ afterMs: now() - sentAt, text })
          one.bytes += text.length
          dropOldFrames(one)
          show()
        },
        recordEnd(why) {
          one.ended ??= { afterMs: now() - sentAt, why }
          show()
        },
      }
    },
    clear() {
      kept = []
      show()
    },
  }
}
