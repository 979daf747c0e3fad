/**
 * All code for reading streams, as one module. Loaded with the first stream, before anything is sent: a page without streams
 * does not load it, and a page whose network breaks already has the code to resume.
 */
import { A2AError } from '../../model/error.ts'

export { runConversationTurn } from '../conversation/conversation-turn.ts'
export { followTask } from './follow-task.ts'
export { responseFrom, createStreamState, applyEvent, applyFrame, taskStateOf } from './stream-state.ts'
export { readStream, streamToResult } from './read-stream.ts'

/** Aborts the requests of a stream whose reader has left. Shared: `abort()` would create one with a stack trace per stream. */
export const readerLeft = new A2AError('CANCELED', 'The reader of the stream left')
