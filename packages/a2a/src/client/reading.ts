/**
 * What it takes to read a stream, in one piece. Loaded with the first one, before anything is sent: a page that only
 * asks does without it, and one whose network breaks already has what it takes to go on.
 */
export { converse } from './converse.ts'
export { follow } from './follow.ts'
export { lastWord } from './last-word.ts'
export { answerFrom, emptyReduction, reduce, stateIn } from './reduce.ts'
export { readStream } from './wire-stream.ts'
