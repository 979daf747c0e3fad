/** Creates the event streams that callers get from a session. */
import { hasSettled } from '../../model/state.ts'
import type { EventStream, Session, StreamOptions, TaskResponse } from '../contract.ts'
import { createEventStream } from './event-stream.ts'
import type { StreamStart } from './follow-task.ts'

/** `start` is called when the stream is first read, because it may have to read files. */
export function openEventStream(
  session: Session,
  start: StreamStart | (() => Promise<StreamStart>),
  options: StreamOptions = {},
): EventStream {
  const { signal } = options
  const isPart = typeof start === 'object' && 'id' in start && start.lastEventId !== undefined
  return createEventStream(
    async function* (signal) {
      const { followTask } = await import('./stream-runtime.ts')
      const resolvedStart = typeof start === 'function' ? await start() : start
      yield* followTask(session, resolvedStart, { ...options, signal })
    },
    signal,
    isPart ? (id) => session.call('GetTask', { id }, signal === undefined ? {} : { signal }) : undefined,
  )
}

/** The task once the agent's turn is over, by stream or by polling. */
export async function waitForTask(session: Session, id: string, options?: StreamOptions): Promise<TaskResponse> {
  const { responseFrom, createStreamState, followTask, applyEvent } = await import('./stream-runtime.ts')
  const streamState = createStreamState()
  for await (const { event } of followTask(session, { operation: 'SubscribeToTask', id }, options)) {
    applyEvent(streamState, event)
    if (streamState.status !== undefined && hasSettled(streamState.status.state)) break
  }
  return responseFrom(streamState) as TaskResponse
}
