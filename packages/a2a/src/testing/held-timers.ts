/**
 * A clock for timers of one length, which tests choose so that nothing else has it: they fire when the test lets time pass
 * and not before, however long the machine takes. All other timers are real.
 */
export interface HeldTimers {
  /** Resolves when the next timer of this length is set. */
  nextSet(): Promise<void>
  /** Lets time pass for them. */
  pass(ms: number): void
  restore(): void
}

export function heldTimers(lengthMs: number): HeldTimers {
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis
  const held = new Map<object, { leftMs: number; readonly run: () => void }>()
  let waiting: (() => void)[] = []
  const set = (run: (...given: unknown[]) => void, ms?: number, ...given: unknown[]): unknown => {
    if (ms !== lengthMs) return realSet(run, ms, ...given)
    const timer = { ref: () => timer, unref: () => timer }
    held.set(timer, { leftMs: lengthMs, run: () => run(...given) })
    for (const resolve of waiting.splice(0)) resolve()
    return timer
  }
  const clear = (timer: unknown): void => {
    if (!held.delete(timer as object)) realClear(timer as NodeJS.Timeout)
  }
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
  return {
    nextSet: () => new Promise((resolve) => void waiting.push(resolve)),
    pass(ms) {
      for (const [timer, one] of held) {
        one.leftMs -= ms
        if (one.leftMs > 0) continue
        held.delete(timer)
        one.run()
      }
    },
    restore: () => void Object.assign(globalThis, { setTimeout: realSet, clearTimeout: realClear }),
  }
}
