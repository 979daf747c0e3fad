/**
 * The slot that a turn holds while its agent works. It is released while the agent waits for input, which may take days,
 * and after a grace period if the agent does not stop on abort: a slot must not be lost for ever.
 */
import type { Turn } from '@parley/a2a'
import type { FairQueue, ReleaseSlot } from './fair-queue.ts'

export interface ConcurrencySlot {
  /** The turn to pass to the agent. */
  readonly turn: Turn
  release(): void
  /** The agent was aborted: releases the slot when it has stopped, or after the grace period. */
  releaseSoon(): void
}

const graceMs = 10_000

export function createConcurrencySlot(
  queue: FairQueue,
  caller: string,
  turn: Turn,
  acquired: ReleaseSlot,
): ConcurrencySlot {
  const { signal } = turn
  let releaseSlot: ReleaseSlot = acquired
  let isOver = false
  let grace: ReturnType<typeof setTimeout> | undefined

  function leave(): void {
    isOver = true
    clearTimeout(grace)
    signal.removeEventListener('abort', leaveSoon)
    releaseSlot()
  }

  function leaveSoon(): void {
    if (!isOver) grace ??= setTimeout(leave, graceMs).unref()
  }

  async function releasedDuring<T>(ask: () => Promise<T>): Promise<T> {
    releaseSlot()
    const answer = await ask()
    const entering = queue.acquire(caller, signal)
    releaseSlot = await entering
    // The turn ended while it was queued.
    if (isOver) releaseSlot()
    return answer
  }

  signal.addEventListener('abort', leaveSoon, { once: true })
  if (signal.aborted) leaveSoon()
  return { turn: withAsk(turn, releasedDuring), release: leave, releaseSoon: leaveSoon }
}

type AroundAsk = <T>(ask: () => Promise<T>) => Promise<T>

/** The engine's turn is a class with private fields, so it is proxied and not copied. */
function withAsk(turn: Turn, around: AroundAsk): Turn {
  const own: Pick<Turn, 'ask' | 'askMessage'> = {
    ask: (question, options) => ignoreRejection(around(() => turn.ask(question, options))),
    askMessage: (question, options) => ignoreRejection(around(() => turn.askMessage(question, options))),
  }
  return new Proxy(turn, {
    get: (target, name): unknown =>
      name === 'ask' || name === 'askMessage' ? own[name] : Reflect.get(target, name, target),
  })
}

/** An agent that does not await its answer must not crash the process when it is stopped. */
function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
