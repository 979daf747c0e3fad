/** The demo agent `clock`, and its counting, which `rehearsal` uses too. */
import { type Agent, type Report, artifact, reject, type Task, type Turn } from '@parley/a2a'
import { setTimeout as sleep } from 'node:timers/promises'

const maxSeconds = 3_600

/**
 * Counts seconds, one artifact chunk each: a long task to watch, to cancel, and to interrupt by a crash. After a restart it
 * continues from the log.
 */
export const clock: Agent = {
  resume: 'rerun',
  run: (turn) => countSeconds(turn.text, turn),
}

export async function* countSeconds(
  text: string,
  { signal, resumed }: Pick<Turn, 'signal' | 'resumed'>,
): AsyncGenerator<Report> {
  const seconds = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN
  if (!(seconds >= 1 && seconds <= maxSeconds)) {
    yield reject(`Tell me a number of seconds, from 1 to ${maxSeconds}.`)
    return
  }
  for (let tick = ticksIn(resumed?.task) + 1; tick <= seconds; tick += 1) {
    await sleep(1_000, undefined, { signal })
    yield artifact('ticks', { text: `${tick}\n`, append: tick > 1, last: tick === seconds })
  }
}

/** The number of chunks that an interrupted run left in the log. */
function ticksIn(task: Task | undefined): number {
  const written = task?.artifacts?.find(({ artifactId }) => artifactId === 'ticks')
  const text = written?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
  return text.split('\n').length - 1
}
