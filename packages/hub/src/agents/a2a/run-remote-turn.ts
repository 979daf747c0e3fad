/**
 * Runs one turn with the remote agent until it ends: over as many streams as needed, across restarts of either side, and
 * until the caller cancels it.
 */
import { isInterrupted, linkSignals } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'
import { CheckpointFailed, openRemoteTurn, snapshotReceived, pushNotified } from './remote-turn.ts'
import type { RemoteTurnStart, RemoteTurnDeps } from './remote-turn.ts'
import type { TurnCancellation } from './cancellation.ts'
import { createEventTranslator } from './event-translator.ts'

export async function* runRemoteTurn(
  turn: Turn,
  deps: RemoteTurnDeps,
  start: RemoteTurnStart,
  cancellation: TurnCancellation,
): AsyncGenerator<Report, void, undefined> {
  const { signal } = cancellation
  const translator = createEventTranslator(turn, start.checkpoint.round)
  const remoteTurn = await openRemoteTurn(turn, deps, start, translator, cancellation)
  while (!signal.aborted) {
    const streamSignals = linkSignals([signal])
    const stopListening = remoteTurn.onNotification(() => streamSignals.abort(pushNotified))
    let finalReport: Report | undefined
    try {
      let interimReply: Report | undefined
      const stream = await remoteTurn.openStream(streamSignals.signal)
      for await (const frame of stream.frames()) {
        if ('task' in frame.event) throw snapshotReceived
        await remoteTurn.recordArrival(stream)
        const report = await translator.translate(frame.event, remoteTurn.taskId !== undefined)
        if (report !== undefined && !remoteTurn.isAlreadyLogged()) {
          const { settledStatus } = translator
          if (settledStatus !== undefined && isInterrupted(settledStatus.state))
            await remoteTurn.recordQuestion(settledStatus)
          yield report
          if (settledStatus !== undefined || isReply(report)) return
          if ('message' in frame.event) interimReply = report
        }
        remoteTurn.recordDelivered(frame)
      }
      finalReport = await remoteTurn.onStreamEnd(interimReply)
    } catch (reason) {
      if (reason instanceof CheckpointFailed) throw reason.cause
      if (!signal.aborted) finalReport = await remoteTurn.onStreamFailure(reason)
    } finally {
      stopListening()
      streamSignals.end()
    }
    if (finalReport !== undefined) {
      yield finalReport
      return
    }
  }
}

function isReply(report: Report): boolean {
  return typeof report === 'object' && 'reply' in report
}
