/**
 * What of a peer's events is new. A peer that is asked to go on may say things again, show the whole task once more, or
 * leave things out; whoever reads is to hear each event once. Ids are believed as far as they go: numbers grow, and the
 * same words under the same id are the same event. Without ids only the task itself can say what was missed.
 */
import { A2AError } from '../model/error.ts'
import type { StreamEvent, Task } from '../model/task.ts'
import { isOlder, isSame, newsIn } from './catch-up.ts'
import type { WireEvent } from './contract.ts'
import { emptyReduction, reduce } from './reduce.ts'
import type { Reduction } from './reduce.ts'

export interface Sieve {
  /** What everything told so far adds up to. */
  readonly told: Reduction
  taskId: string | undefined
  cursor: string | undefined
  /** Something may have been lost: the end is not to be believed unseen. */
  doubt: boolean
  /** What of this is to be told. `joins`: it is the first that we hear since we asked to go on. */
  sift(frame: WireEvent, joins: boolean): readonly WireEvent[]
  tell(frame: WireEvent): WireEvent
  /** Chunks that the task has and nobody was told. */
  lostIn(task: Task): readonly WireEvent[]
}

/** Thrown where a peer goes on from now, as 0.x may (B-108), without a word about what was missed. */
export const gap = new A2AError('INTERRUPTED', 'The peer does not say what was missed')

const mostUnderOneId = 10
/** A task without an end must not be remembered without an end. */
const mostIds = 10_000

/** `known`: what its reader knows of the task; every task is then told as the updates that lead to it. */
export function createSieve(taskId: string | undefined, cursor: string | undefined, known?: Partial<Task>): Sieve {
  const told = emptyReduction()
  // What it leaves out is not known either.
  if (known) reduce(told, { task: known as Task })
  /** What a peer may say again: the first event, and those under ids of which nobody knows the order. */
  let first: WireEvent | undefined
  const named = new Map<string, StreamEvent[]>()

  const sieve: Sieve = {
    told,
    taskId,
    cursor,
    doubt: false,

    sift(frame, joins) {
      const { event, id, final } = frame
      if (isRepeated(frame)) {
        // Where the id is the time, the same words may have been said twice in a moment.
        sieve.doubt = true
        return []
      }
      if ('task' in event && (known !== undefined || (joins && told.taskId !== undefined))) {
        const { events, isOld } = newsIn(event.task, told)
        if (!isOld || isLater(id, sieve.cursor)) sieve.cursor = id
        // The cursor stands behind all of them, so only the last may carry it.
        return events.map((each, index) => (index === events.length - 1 ? { event: each, id, final } : plain(each)))
      }
      // An id says where the event stands only to whoever has one of before.
      if (joins && told.taskId !== undefined && (id === undefined || sieve.cursor === undefined)) throw gap
      if (isLater(sieve.cursor, id)) {
        // It came before, or it comes too late: either way what we have may not be what the peer has.
        sieve.doubt = true
        return []
      }
      const { status } = 'statusUpdate' in event ? event.statusUpdate : {}
      return id === undefined && status !== undefined && isOlder(status, told.status) ? [] : [frame]
    },

    tell(frame) {
      const { event, id } = frame
      reduce(told, event)
      first ??= frame
      sieve.taskId = told.taskId ?? sieve.taskId
      if (id === undefined) return frame
      // Whatever comes under a smaller number is known for that alone.
      if (isLater(id, sieve.cursor)) named.clear()
      const known = named.get(id) ?? []
      // A peer that gives all its events one id must not make each of them dearer than the last.
      if (known.push(event) > mostUnderOneId) known.shift()
      named.set(id, known)
      if (named.size > mostIds) named.delete(named.keys().next().value as string)
      sieve.cursor = id
      return frame
    },

    lostIn: (task) => newsIn(task, told).events.flatMap((event) => ('artifactUpdate' in event ? plain(event) : [])),
  }
  return sieve

  /** Said again word for word under the same id. The id alone proves nothing: some peers send the time. */
  function isRepeated({ event, id }: WireEvent): boolean {
    if (id === undefined) return false
    if (id === first?.id && isSame(event, first.event)) return true
    return named.get(id)?.some((known) => isSame(event, known)) === true
  }
}

export const plain = (event: StreamEvent): WireEvent => ({ event, id: undefined, final: undefined })

/** Of ids that are no numbers nobody knows. */
function isLater(one: string | undefined, other: string | undefined): boolean {
  return isNumber(one) && isNumber(other) && BigInt(one) > BigInt(other)
}

function isNumber(id: string | undefined): id is string {
  return id !== undefined && /^\d{1,20}$/.test(id)
}
