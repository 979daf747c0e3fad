/** Passes on how far a tool is: the first word at once, then now and then the newest, however many there are. */
import type { Progress } from '@modelcontextprotocol/client'

export interface ProgressTeller {
  hear(progress: Progress): void
  /** Resolves when what was being told is told; nothing follows, as often as this was called, before `go`. */
  pause(): Promise<void>
  go(): void
  /** Nothing is told any more. */
  end(): void
}

export function progressTeller(everyMs: number, tell: (progress: Progress) => Promise<void>): ProgressTeller {
  let newest: Progress | undefined
  let telling: Promise<void> | undefined
  let isResting = false
  let pauses = 0
  let rest: NodeJS.Timeout | undefined

  function next(): void {
    if (newest === undefined || telling !== undefined || isResting || pauses > 0) return
    const progress = newest
    newest = undefined
    // Nobody hears more than they have read.
    telling = tell(progress).finally(() => {
      telling = undefined
      if (pauses === Infinity) return
      isResting = true
      rest = setTimeout(() => {
        isResting = false
        next()
      }, everyMs)
    })
  }

  return {
    hear(progress) {
      newest = progress
      next()
    },
    async pause() {
      pauses += 1
      await telling
    },
    go() {
      pauses -= 1
      next()
    },
    end() {
      pauses = Infinity
      clearTimeout(rest)
    },
  }
}

/** For people. */
export function progressText({ message, progress, total }: Progress): string {
  if (message !== undefined && message !== '') return message
  return total === undefined ? String(progress) : `${progress} of ${total}`
}
