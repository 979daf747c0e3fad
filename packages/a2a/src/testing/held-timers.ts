/**
 * A clock for timers of one length, which tests choose so that nothing else has it, or for all that fit: they fire when the
 * test lets time pass and not before, however long the machine takes. All other timers are real.
 */
export interface HeldTimers {
  /** Resolves when the next of them is set. */
  nextSet(): Promise<void>
  /** Lets time pass for them. */
  pass(ms: number): void
  restore(): void
}

export function heldTimers(lengthMs: number | ((ms: number) => boolean)): HeldTimers {
  const isHeld = typeof lengthMs === 'number' ? (ms: number) => ms === lengthMs : lengthMs
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis
  const held = new Map<object, { leftMs: number; readonly run: () => void }>()
  const waiting: (() => void)[] = []
  const set = (run: (...given: unknown[]) => void, ms?: number, ...given: unknown[]): unknown => {
    if (ms === undefined || !isHeld(ms)) return realSet(run, ms, ...given)
    const begin = (): void => void held.set(timer, { leftMs: ms, run: () => run(...given) })
    const again = (): object => {
      begin()
      return timer
    }
    const timer = { ref: () => timer, unref: () => timer, refresh: again }
    begin()
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
