/** Measures the duration and failures of store calls. Results are not inspected. */
import type { FullStore } from '@parley/a2a'

type AsyncMethod = (...given: unknown[]) => Promise<unknown>
/** The methods that calls and turns wait for, and the `operation` that each has in the metrics. */
type TimedMethods<Part> = Readonly<Partial<Record<keyof Part & string, string>>>

const taskMethods: TimedMethods<FullStore['tasks']> = {
  append: 'append',
  load: 'load',
  read: 'read',
  list: 'list',
  findMessage: 'findMessage',
}

export function timedStore(
  store: FullStore,
  observe: (operation: string, seconds: number, isOk: boolean) => void,
): FullStore {
  return Object.assign(timed(store, { prune: 'prune' }), {
    tasks: timed(store.tasks, taskMethods),
    push: timed(store.push, { claim: 'claimPush' }),
    feed: timed(store.feed, { read: 'feed' }),
  })

  /** Inherits from the original, so that everything else is unchanged. */
  function timed<Part extends object>(part: Part, methods: TimedMethods<Part>): Part {
    const view = Object.create(part) as Record<string, AsyncMethod>
    for (const [name, operation] of Object.entries<string>(methods as Record<string, string>)) {
      const method = (part[name as keyof Part] as AsyncMethod).bind(part)
      view[name] = (...given) => {
        const startedAt = performance.now()
        const report = (isOk: boolean): void => observe(operation, (performance.now() - startedAt) / 1_000, isOk)
        const answer = method(...given)
        answer.then(
          () => report(true),
          () => report(false),
        )
        return answer
      }
    }
    return view as Part
  }
}
