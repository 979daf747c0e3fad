/**
 * Keeps what went over the wire, for whoever wants to see it: bounded, told to the page at most once a frame of the screen, and
 * without what is secret.
 */
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { nextFrame } from '../next-frame.ts'
import type { Exchange } from './exchange.ts'

const mostExchanges = 60
const mostFrames = 6_000
const mostBytes = 16_000_000

export interface WireLog {
  readonly exchanges: ReadonlySignal<readonly Exchange[]>
  begin(request: Pick<Exchange, 'method' | 'url' | 'headers' | 'body'>): Recording
  clear(): void
}

export interface Recording {
  answered(status: number, headers: Exchange['headers']): void
  frame(text: string): void
  ended(why: 'whole' | 'broken' | 'left'): void
}

type Kept = { -readonly [K in keyof Exchange]: Exchange[K] } & { bytes: number }

export function createWireLog(now: () => number = Date.now): WireLog {
  const exchanges = signal<readonly Exchange[]>([])
  let kept: Kept[] = []
  let count = 0
  const show = nextFrame(() => {
    exchanges.value = kept.map((one) => ({ ...one }))
  })

  /** Many at once, so that a long stream is not moved with every frame of it. */
  function shorten(one: Kept): void {
    if (one.frames.length <= mostFrames && (one.bytes <= mostBytes || one.frames.length === 1)) return
    const gone = one.frames.slice(0, Math.ceil(one.frames.length / 10))
    one.frames = one.frames.slice(gone.length)
    one.dropped += gone.length
    one.bytes -= gone.reduce((sum, { text }) => sum + text.length, 0)
  }

  return {
    exchanges,
    begin(request) {
      count += 1
      const sentAt = now()
      const one: Kept = {
        ...request,
        id: count,
        sentAt,
        answer: undefined,
        frames: [],
        dropped: 0,
        ended: undefined,
        bytes: 0,
      }
      kept = [...kept.slice(1 - mostExchanges), one]
      show()
      return {
        answered(status, headers) {
          one.answer = { status, headers, afterMs: now() - sentAt }
          show()
        },
        frame(text) {
          ;(one.frames as { afterMs: number; text: string }[]).push({ afterMs: now() - sentAt, text })
          one.bytes += text.length
          shorten(one)
          show()
        },
        ended(why) {
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
