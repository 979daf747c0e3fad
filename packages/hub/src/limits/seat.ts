/**
 * The place that a turn holds while its agent works. It is given up while the agent waits for an answer, which may take
 * days, and after a while by an agent that does not stop when it is told to: its place must not be lost for ever.
 */
import type { Turn } from '@parley/a2a'
import type { FairQueue, Leave } from './fair-queue.ts'

export interface Seat {
  /** As the agent is to see it. */
  readonly turn: Turn
  leave(): void
  /** The agent was told to stop: leaves when it has, or after the time of grace. */
  leaveSoon(): void
}

const graceMs = 10_000

export function openSeat(queue: FairQueue, caller: string, turn: Turn, entered: Leave): Seat {
  const { signal } = turn
  let leavePlace: Leave = entered
  let isOver = false
  let grace: ReturnType<typeof setTimeout> | undefined

  function leave(): void {
    isOver = true
    clearTimeout(grace)
    signal.removeEventListener('abort', leaveSoon)
    leavePlace()
  }

  function leaveSoon(): void {
    if (!isOver) grace ??= setTimeout(leave, graceMs).unref()
  }

  async function withoutIt<T>(ask: () => Promise<T>): Promise<T> {
    leavePlace()
    const answer = await ask()
    const entering = queue.enter(caller, signal)
    leavePlace = await entering
    // The turn ended while it stood in line.
    if (isOver) leavePlace()
    return answer
  }

  signal.addEventListener('abort', leaveSoon, { once: true })
  if (signal.aborted) leaveSoon()
  return { turn: withAsk(turn, withoutIt), leave, leaveSoon }
}

type Around = <T>(ask: () => Promise<T>) => Promise<T>

/** The engine's turn is a class with private parts, so it is looked through and not copied. */
function withAsk(turn: Turn, around: Around): Turn {
  const own: Pick<Turn, 'ask' | 'askMessage'> = {
    ask: (question, options) => unheard(around(() => turn.ask(question, options))),
    askMessage: (question, options) => unheard(around(() => turn.askMessage(question, options))),
  }
  return new Proxy(turn, {
    get: (target, name): unknown =>
      name === 'ask' || name === 'askMessage' ? own[name] : Reflect.get(target, name, target),
  })
}

/** An agent that does not wait for its answer must not bring the process down when it is stopped. */
function unheard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
