/**
 * The work of an agent as progress of the tool call that waits for it: its status messages, and the size of its answer. An
 * agent may send thousands of events a second; the client gets a few of them, and always the last.
 */
import type { StreamEvent, TaskState } from '@parley/a2a'
import { systemClock } from '@parley/a2a/internal'
import { stateWord } from './state-word.ts'
import { textOfParts } from '../../agents/part-reader.ts'

export interface ToolProgress {
  push(event: StreamEvent): void
  /** Sends the pending update. Nothing is sent afterwards. */
  end(): Promise<void>
}

/** The progress as a growing number of steps, and as text. */
export type ReportProgress = (progress: number, message: string) => Promise<void>

const minIntervalMs = 100
const longestMessage = 1_000

export function createToolProgress(report: ReportProgress, monotonicNow = systemClock.monotonicNow): ToolProgress {
  const lengths = new Map<string, number>()
  let count = 0
  let toldAt = -Infinity
  let state: TaskState | undefined
  let pending: string | undefined
  let timer: NodeJS.Timeout | undefined
  let lastReport: Promise<void> = Promise.resolve()
  let isOver = false

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (pending === undefined) return
    const message = pending.slice(0, longestMessage)
    pending = undefined
    toldAt = monotonicNow()
    count += 1
    // The client may have disconnected.
    lastReport = report(count, message).catch(() => {})
  }

  /** The text of an event; undefined if it adds nothing new. */
  function messageFor(event: StreamEvent): string | undefined {
    if ('artifactUpdate' in event) {
      const { artifact, append } = event.artifactUpdate
      const before = append === true ? (lengths.get(artifact.artifactId) ?? 0) : 0
      const length = before + textOfParts(artifact.parts).length
      lengths.set(artifact.artifactId, length)
      return `${artifact.name ?? artifact.artifactId}: ${length} characters so far`
    }
    const status = 'statusUpdate' in event ? event.statusUpdate.status : 'task' in event ? event.task.status : undefined
    if (status === undefined) return undefined
    const said = textOfParts(status.message?.parts ?? [])
    const isNew = status.state !== state
    state = status.state
    return said !== '' ? said : isNew ? stateWord(status.state) : undefined
  }

  return {
    push(event) {
      const words = isOver ? undefined : messageFor(event)
      if (words === undefined) return
      pending = words
      const wait = toldAt + minIntervalMs - monotonicNow()
      if (wait <= 0) flush()
      else timer ??= setTimeout(flush, wait)
    },
    async end() {
      isOver = true
      flush()
      await lastReport
    },
  }
}
