/** Why a write is not in a task log. */
import { A2AError } from '../../model/error.ts'

/** Thrown to the sender of a message that another append claimed first. */
export class DuplicateMessage extends Error {
  readonly taskId: string
  readonly hash: string
  constructor(taskId: string, hash: string) {
    super('the message was already accepted')
    this.taskId = taskId
    this.hash = hash
  }
}

export function taskUnwritable(cause: unknown): A2AError {
  return cause instanceof A2AError
    ? cause
    : new A2AError('UNAVAILABLE', 'The task cannot be written now', {}, { cause })
}

/**
 * A database that failed over to a lagging replica, or a disk that lost its last writes, holds less than it confirmed as durable.
 * The state in memory is then invalid: the next reader loads what is stored.
 */
export function logTruncated(head: number, known: number): A2AError {
  const cause = new Error(`the log ends at ${head} but had reached ${known}: the store lost committed records`)
  return new A2AError('UNAVAILABLE', 'The task changed unexpectedly in the store', {}, { cause })
}
