/**
 * All code for reading streams, as one module. Loaded with the first stream, before anything is sent: a page without streams
 * does not load it, and a page whose network breaks already has the code to resume.
 */
export { runConversationTurn } from '../conversation/conversation-turn.ts'
export { followTask } from './follow-task.ts'
export { streamToResult } from './stream-to-result.ts'
export { responseFrom, createStreamState, applyEvent, taskStateOf } from './stream-state.ts'
export { readStream } from './read-stream.ts'

/** Why a stream ends whose reader has left. As `abort()` would create it for each stream, with a stack trace. */
export const readerLeft = new DOMException('The reader left', 'AbortError')
