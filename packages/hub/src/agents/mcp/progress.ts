/** Passes on how far a tool is: the first word at once, then now and then the newest, however many there are. */
import type { Progress } from '@modelcontextprotocol/client'

export interface ProgressTeller {
  hear(progress: Progress): void
  /** Nothing is told any more. */
  end(): void
}

export function progressTeller(everyMs: number, tell: (progress: Progress) => Promise<void>): ProgressTeller {
  let newest: Progress | undefined
  let isBusy = false
  let hasEnded = false
  let pause: NodeJS.Timeout | undefined

  function next(): void {
    if (newest === undefined || isBusy || hasEnded) return
    const progress = newest
    newest = undefined
    isBusy = true
    // Nobody hears more than they have read.
    void tell(progress).then(() => {
      if (hasEnded) return
      pause = setTimeout(() => {
        isBusy = false
        next()
      }, everyMs)
    })
  }

  return {
    hear(progress) {
      newest = progress
      next()
    },
    end() {
      hasEnded = true
      clearTimeout(pause)
    },
  }
}

/** For people. */
export function progressText({ message, progress, total }: Progress): string {
  if (message !== undefined && message !== '') return message
  return total === undefined ? String(progress) : `${progress} of ${total}`
}
