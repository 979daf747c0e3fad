/** What becomes of a task when its model has answered for the last time, or has failed. Shared by all that think with one. */
import { A2AError, fail, reject } from '@parley/a2a'
import type { Report, StateReport, Struct, Turn } from '@parley/a2a'
import type { ChatAnswer } from '../chat-model.ts'

/** `said`: whether the caller has got anything of the answer. */
export function endingOf({ finish, refusal }: ChatAnswer, said: boolean, metadata: Struct): Report {
  const ends = (ending: StateReport): Report => ({ ...ending, metadata })
  if (refusal !== undefined) return ends(reject(refusal))
  if (finish === 'content_filter')
    return ends(fail(`The provider's content filter stopped the ${said ? 'rest of the ' : ''}answer`))
  if (finish === 'length') {
    const why = "The answer reached the model's limit"
    // What there is may be of use, but nobody should take it for the whole.
    return said
      ? { state: 'TASK_STATE_COMPLETED', message: `${why} and is not complete`, metadata }
      : ends(fail(`${why} before it began`))
  }
  return said ? { state: 'TASK_STATE_COMPLETED', metadata } : ends(fail('The model answered with nothing'))
}

/**
 * A model that failed, as the end of the task. Throws what is no failure of a model, and an answer that cannot be read
 * where no other was paid for: if there is no task yet, that is the answer to the call (-32006).
 */
export function failedEnding(reason: unknown, turn: Turn, bill?: Struct): Report {
  turn.signal.throwIfAborted()
  if (!(reason instanceof A2AError) || reason.code === 'INTERNAL') throw reason
  turn.log.error('the model failed', { taskId: turn.task.id, cause: reason.cause ?? reason })
  if (reason.code === 'INVALID_AGENT_RESPONSE' && bill === undefined) throw reason
  const ending = reason.details.reason === 'CONTENT_FILTER' ? reject(reason.message) : fail(reason.message)
  // By which those who have others to ask know whether another might do better.
  return { ...ending, metadata: { ...bill, reason: reason.details.reason ?? reason.code } }
}
