/** The store with a clock: how long each call takes, and whether it fails. What it answers is not looked at. */
import type { Store } from '@parley/a2a'

/** Those that calls and turns wait for. */
const timed = [
  'append',
  'load',
  'read',
  'list',
  'findMessage',
  'claimPush',
  'feed',
  'prune',
] as const satisfies readonly (keyof Store)[]

type Method = (...given: unknown[]) => Promise<unknown>

export function timedStore(store: Store, observe: (operation: string, seconds: number, isOk: boolean) => void): Store {
  // Behind the original, so that all else is as it was.
  const watched = Object.create(store) as Record<string, Method>
  for (const name of timed) {
    const method = store[name].bind(store) as Method
    watched[name] = (...given) => {
      const began = performance.now()
      const told = (isOk: boolean): void => observe(name, (performance.now() - began) / 1_000, isOk)
      const answer = method(...given)
      answer.then(
        () => told(true),
        () => told(false),
      )
      return answer
    }
  }
  return watched as unknown as Store
}
