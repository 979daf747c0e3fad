/**
 * The stderr of a program, line by line, for the log, with a maximum of lines per minute. The rest is read from the
 * pipe, so that the program is never blocked, and discarded without being split into lines: splitting 300 MB took a
 * minute of the event loop.
 */
import { createLineBuffer, lineFeed } from './lines.ts'

interface ErrorOutputOptions {
  onLine(line: string): void
  /** Called once each time lines begin to be dropped. */
  onDropped?: (() => void) | undefined
  /** Default 200. */
  readonly linesPerMinute?: number
  /** Monotonic, in milliseconds. */
  readonly now?: () => number
}

/** Limit of one line. */
const lineBytes = 4_000
const minuteMs = 60_000

export function createErrorOutput(options: ErrorOutputOptions): { push(chunk: Uint8Array): void; end(): void } {
  const { onLine, onDropped, linesPerMinute = 200, now = () => performance.now() } = options
  const line = createLineBuffer()
  let since = now()
  let loggedLines = 0
  let isDropping = false
  /** The rest of a line whose beginning was dropped. */
  let isPartialLine = false

  function flushLine(): void {
    const text = line.take()
    if (isPartialLine || text.trim() === '') {
      isPartialLine = false
      return
    }
    loggedLines += 1
    if (loggedLines <= linesPerMinute) return onLine(text)
    isDropping = true
    onDropped?.()
  }

  function isSuppressed(): boolean {
    if (now() - since < minuteMs) return isDropping
    since = now()
    loggedLines = 0
    isPartialLine ||= isDropping
    isDropping = false
    return false
  }

  return {
    push(chunk) {
      if (isSuppressed()) return
      let from = 0
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
        line.add(chunk.subarray(from, Math.min(at, from + lineBytes - line.bytes)))
        flushLine()
        if (isDropping) return
        from = at + 1
      }
      line.add(chunk.subarray(from, from + lineBytes - line.bytes))
    },
    end() {
      if (!isDropping && line.bytes > 0) flushLine()
    },
  }
}
