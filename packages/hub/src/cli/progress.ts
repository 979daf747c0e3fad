/** The progress of a long command: one line on stderr, written again in place, and only on a terminal. */
import type { Terminal } from './command.ts'

export interface Progress {
  /** What has been done of `total`, in the same unit, and more to show, such as a number of tasks. */
  update(done: number, detail?: string): void
  /** Removes the line. Call it before other output and at the end. */
  clear(): void
}

export interface ProgressOptions {
  /** What is going on: `Reading the store`. */
  readonly label: string
  /** If it is known, a percentage is shown. */
  readonly total?: number | undefined
  /** The monotonic clock, for tests, in milliseconds. */
  readonly now?: () => number
}

/** Often enough to look alive. */
const intervalMs = 100
/** To the start of the line, and clear it. */
const startOfLine = '\r\u001b[K'

export function createProgress(
  terminal: Pick<Terminal, 'isErrorTerminal' | 'writeError'>,
  options: ProgressOptions,
): Progress {
  const { label, total, now = () => performance.now() } = options
  if (!terminal.isErrorTerminal) return { update() {}, clear() {} }
  let shownAt = -Infinity
  return {
    update(done, detail) {
      if (now() - shownAt < intervalMs) return
      shownAt = now()
      const share = total === undefined || total <= 0 ? '' : ` ${Math.min(100, Math.floor((done / total) * 100))} %`
      terminal.writeError(`${startOfLine}${label}${share}${detail === undefined ? '' : ` (${detail})`}`)
    },
    clear() {
      if (shownAt === -Infinity) return
      shownAt = -Infinity
      terminal.writeError(startOfLine)
    },
  }
}
