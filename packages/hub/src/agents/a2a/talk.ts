/**
 * One turn with the remote agent, from the first word to the end of its turn: over as many streams as it takes, across
 * restarts of either side, and until the caller gives it up.
 */
import { isInterrupted, linkSignals } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'
import { NotKept, openLine, shown, woken } from './line.ts'
import type { Beginning, LineParts } from './line.ts'
import type { Stopping } from './stopping.ts'
import { createTeller } from './tell.ts'

export async function* talk(
  turn: Turn,
  parts: LineParts,
  beginning: Beginning,
  stopping: Stopping,
): AsyncGenerator<Report, void, undefined> {
  const { signal } = stopping
  const teller = createTeller(turn, beginning.place.round)
  const line = await openLine(turn, parts, beginning, teller, stopping)
  while (!signal.aborted) {
    const again = linkSignals([signal])
    const deaf = line.listen(() => again.abort(woken))
    let last: Report | undefined
    try {
      let aside: Report | undefined
      const stream = await line.open(again.signal)
      for await (const frame of stream.frames()) {
        if ('task' in frame.event) throw shown
        await line.heard(stream)
        const report = await teller.tell(frame.event, line.taskId !== undefined)
        if (report !== undefined && !line.isKnown()) {
          const { rest } = teller
          if (rest !== undefined && isInterrupted(rest.state)) await line.asked(rest)
          yield report
          if (rest !== undefined || isReply(report)) return
          if ('message' in frame.event) aside = report
        }
        line.told(frame)
      }
      last = await line.ended(aside)
    } catch (reason) {
      if (reason instanceof NotKept) throw reason.cause
      if (!signal.aborted) last = await line.failed(reason)
    } finally {
      deaf()
      again.end()
    }
    if (last !== undefined) {
      yield last
      return
    }
  }
}

function isReply(report: Report): boolean {
  return typeof report === 'object' && 'reply' in report
}
