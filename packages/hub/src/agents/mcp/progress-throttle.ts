/** Throttles the progress of a tool: forwards the first update at once, then the newest one at intervals. */
import type { Progress } from '@modelcontextprotocol/client'

interface ProgressThrottle {
  push(progress: Progress): void
  /** Resolves when the current update is sent; nothing follows until `resume` was called as often. */
  pause(): Promise<void>
  resume(): void
  /** Stops all updates. */
  end(): void
}

export function createProgressThrottle(everyMs: number, send: (progress: Progress) => Promise<void>): ProgressThrottle {
  let newest: Progress | undefined
  let sending: Promise<void> | undefined
  let isCoolingDown = false
  let pauses = 0
  let cooldown: NodeJS.Timeout | undefined

  function next(): void {
    if (newest === undefined || sending !== undefined || isCoolingDown || pauses > 0) return
    const progress = newest
    newest = undefined
    // Waits until the previous update was read.
    sending = send(progress).finally(() => {
      sending = undefined
      if (pauses === Infinity) return
      isCoolingDown = true
      cooldown = setTimeout(() => {
        isCoolingDown = false
        next()
      }, everyMs)
    })
  }

  return {
    push(progress) {
      newest = progress
      next()
    },
    async pause() {
      pauses += 1
      await sending
    },
    resume() {
      pauses -= 1
      next()
    },
    end() {
      pauses = Infinity
      clearTimeout(cooldown)
    },
  }
}

/** Progress as text for people. */
export function progressText({ message, progress, total }: Progress): string {
  if (message !== undefined && message !== '') return message
  return total === undefined ? String(progress) : `${progress} of ${total}`
}
