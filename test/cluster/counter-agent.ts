/** Agents that count and report the replica and attempt that ran them, so that a log shows missing, doubled and foreign records. */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact } from '@parley/a2a'
import type { Agent, Artifact, Report, Turn } from '@parley/a2a'

export type OnRun = (turn: Turn) => void

/** `60 4`: sixty numbers, four milliseconds apart. Continues where the log ends, so that the log has each number exactly once. */
export function createCounter(by: string, onRun: OnRun = () => {}): Agent {
  return {
    resume: 'rerun',
    async *run(turn: Turn): AsyncGenerator<Report> {
      onRun(turn)
      const { text, message, resumed, signal } = turn
      const [until = 0, paceMs = 0] = text.split(' ').map(Number)
      const id = `count ${message.messageId}`
      const attempt = resumed?.attempt ?? 1
      const from = countOf(resumed?.task.artifacts?.find(({ artifactId }) => artifactId === id))
      for (let n = from; n < until && !signal.aborted; n += 1) {
        if (paceMs > 0) await sleep(paceMs)
        yield artifact(id, { text: `${n} `, append: n > 0, last: n === until - 1, metadata: { by, attempt } })
      }
    },
  }
}

/** How many numbers an artifact holds. */
export function countOf(written: Artifact | undefined): number {
  const text = written?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
  return text.split(' ').length - 1
}

/** Counts in the same way but cannot be resumed: the process that takes the task over fails it with a reason. */
export function createFragileCounter(by: string, onRun: OnRun = () => {}): (turn: Turn) => AsyncGenerator<Report> {
  return async function* fragile(turn: Turn): AsyncGenerator<Report> {
    onRun(turn)
    const [until = 0, paceMs = 0] = turn.text.split(' ').map(Number)
    for (let n = 0; n < until && !turn.signal.aborted; n += 1) {
      await sleep(paceMs)
      yield artifact('words', { text: `${n} `, append: n > 0, metadata: { by, attempt: 1 } })
    }
  }
}
