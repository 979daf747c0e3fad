/** Why something is not in a task's log although somebody wanted it to be. */
import { A2AError } from '../model/error.ts'

/** Thrown to the sender of a message that another append claimed first. */
export class DuplicateMessage extends Error {
  readonly taskId: string
  readonly hash: string
  constructor(taskId: string, hash: string) {
    super('the message was already taken')
    this.taskId = taskId
    this.hash = hash
  }
}

export function unavailable(cause: unknown): A2AError {
  return cause instanceof A2AError
    ? cause
    : new A2AError('UNAVAILABLE', 'The task cannot be written now', {}, { cause })
}

/**
 * A database that failed over to one that lagged behind, or a disk that lost its last moments, has less than what we were
 * told is durable. What we know is then worth nothing: whoever asks next begins with what is there.
 */
export function cutShort(head: number, known: number): A2AError {
  const cause = new Error(`the log ends at ${head} and had come to ${known}: the store has lost what it had taken`)
  return new A2AError('UNAVAILABLE', 'The task is no longer what it was', {}, { cause })
}
