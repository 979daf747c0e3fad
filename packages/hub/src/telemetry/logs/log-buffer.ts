/** The last lines of the log, in memory, for readers of the admin API. Bounded by lines and bytes. */
import { randomBytes } from 'node:crypto'
import type { LogLevel } from './hub-log.ts'

export interface BufferedLine {
  /** Counts up from 1 with each line of this process. */
  readonly position: number
  readonly level: LogLevel
  /** Redacted, as in the log. */
  readonly json: string
}

export interface LogBuffer {
  /** Different for each process. */
  readonly id: string
  add(level: LogLevel, json: string): void
  /** The buffered lines after a position. */
  after(position: number): readonly BufferedLine[]
  /** Calls `listener` once, when the next line is added. Returns a function that removes it. */
  onNext(listener: () => void): () => void
}

export function createLogBuffer({ maxLines = 1_000, maxLength = 1_000_000 } = {}): LogBuffer {
  const lines: BufferedLine[] = []
  let listeners = new Set<() => void>()
  let length = 0
  let position = 0
  return {
    id: randomBytes(4).toString('hex'),
    add(level, json) {
      position += 1
      lines.push({ position, level, json })
      length += json.length
      // Cut in blocks: an array shift per line would move a thousand entries each time.
      if (lines.length > maxLines * 2 || length > maxLength * 2) cut()
      const called = listeners
      listeners = new Set()
      for (const listener of called) listener()
    },
    after(from) {
      cut()
      const start = lines.findIndex((line) => line.position > from)
      return start === -1 ? [] : lines.slice(start)
    },
    onNext(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }

  function cut(): void {
    let dropped = 0
    while (dropped < lines.length - 1 && (lines.length - dropped > maxLines || length > maxLength)) {
      length -= lines[dropped]?.json.length ?? 0
      dropped += 1
    }
    lines.splice(0, dropped)
  }
}
