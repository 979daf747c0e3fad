/**
 * What an agent does, as progress of the tool call that waits for it: what it says of its work, and how far its answer is.
 * An agent may say thousands of things a second; whoever watches is told a few of them, and always the last.
 */
import type { StreamEvent, TaskState } from '@parley/a2a'
import { systemClock } from '@parley/a2a/server'
import { textOf } from './desk.ts'
import { stateWord } from './state-word.ts'

export interface Progress {
  hear(event: StreamEvent): void
  /** Tells what is left to tell. Nothing is told after it. */
  end(): Promise<void>
}

/** How far, in steps that only ever grow, and in words. */
export type TellProgress = (progress: number, message: string) => Promise<void>

const mostOften = 100
const longestMessage = 1_000

export function createProgress(tell: TellProgress, monotonicNow = systemClock.monotonicNow): Progress {
  const lengths = new Map<string, number>()
  let count = 0
  let toldAt = -Infinity
  let state: TaskState | undefined
  let pending: string | undefined
  let timer: NodeJS.Timeout | undefined
  let told: Promise<void> = Promise.resolve()
  let isOver = false

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (pending === undefined) return
    const message = pending.slice(0, longestMessage)
    pending = undefined
    toldAt = monotonicNow()
    count += 1
    // Whoever does not listen any more does not have to be told.
    told = tell(count, message).catch(() => {})
  }

  /** What it comes to in words; nothing if it is nothing new. */
  function wordsOf(event: StreamEvent): string | undefined {
    if ('artifactUpdate' in event) {
      const { artifact, append } = event.artifactUpdate
      const before = append === true ? (lengths.get(artifact.artifactId) ?? 0) : 0
      const length = before + textOf(artifact.parts).length
      lengths.set(artifact.artifactId, length)
      return `${artifact.name ?? artifact.artifactId}: ${length} characters so far`
    }
    const status = 'statusUpdate' in event ? event.statusUpdate.status : 'task' in event ? event.task.status : undefined
    if (status === undefined) return undefined
    const said = textOf(status.message?.parts ?? [])
    const isNew = status.state !== state
    state = status.state
    return said !== '' ? said : isNew ? stateWord(status.state) : undefined
  }

  return {
    hear(event) {
      const words = isOver ? undefined : wordsOf(event)
      if (words === undefined) return
      pending = words
      const wait = toldAt + mostOften - monotonicNow()
      if (wait <= 0) flush()
      else timer ??= setTimeout(flush, wait)
    },
    async end() {
      isOver = true
      flush()
      await told
    },
  }
}
