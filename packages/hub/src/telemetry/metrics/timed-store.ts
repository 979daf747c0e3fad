/** Measures the duration and failures of store calls. Results are not inspected. */
import type { Store } from '@parley/a2a'

/** The methods that calls and turns wait for. */
const timedMethods = [
  'append',
  'load',
  'read',
  'list',
  'findMessage',
  'claimPush',
  'feed',
  'prune',
] as const satisfies readonly (keyof Store)[]

type AsyncMethod = (...given: unknown[]) => Promise<unknown>

export function timedStore(store: Store, observe: (operation: string, seconds: number, isOk: boolean) => void): Store {
  // Inherits from the original, so that everything else is unchanged.
  const timedView = Object.create(store) as Record<string, AsyncMethod>
  for (const name of timedMethods) {
    const method = store[name].bind(store) as AsyncMethod
    timedView[name] = (...given) => {
      const startedAt = performance.now()
      const report = (isOk: boolean): void => observe(name, (performance.now() - startedAt) / 1_000, isOk)
      const answer = method(...given)
      answer.then(
        () => report(true),
        () => report(false),
      )
      return answer
    }
  }
  return timedView as unknown as Store
}
