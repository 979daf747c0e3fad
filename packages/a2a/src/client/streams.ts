/** A session's streams as a caller holds them. */
import { hasSettled } from '../model/state.ts'
import type { EventStream, Session, StreamOptions, TaskAnswer } from './contract.ts'
import { createEventStream } from './event-stream.ts'
import type { Start } from './follow.ts'

/** `start` is asked for when the stream is first read: files may have to be read for it. */
export function streamOf(
  session: Session,
  start: Start | (() => Promise<Start>),
  options: StreamOptions = {},
): EventStream {
  const { signal } = options
  const isPart = typeof start === 'object' && 'id' in start && start.lastEventId !== undefined
  return createEventStream(
    async function* (signal) {
      const { follow } = await import('./reading.ts')
      const begins = typeof start === 'function' ? await start() : start
      yield* follow(session, begins, { ...options, signal })
    },
    signal,
    isPart ? (id) => session.call('GetTask', { id }, signal === undefined ? {} : { signal }) : undefined,
  )
}

/** The task once the agent's turn is over, by whichever way there is to hear of it. */
export async function wait(session: Session, id: string, options?: StreamOptions): Promise<TaskAnswer> {
  const { answerFrom, emptyReduction, follow, reduce } = await import('./reading.ts')
  const told = emptyReduction()
  for await (const { event } of follow(session, { operation: 'SubscribeToTask', id }, options)) {
    reduce(told, event)
    if (told.status !== undefined && hasSettled(told.status.state)) break
  }
  return answerFrom(told) as TaskAnswer
}
