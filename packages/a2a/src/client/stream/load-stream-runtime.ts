/** Loads the code for streams with the first one. Later streams get it without an `import()`, which takes Node 30 µs each time. */
import type * as streamRuntime from './stream-runtime.ts'

let loaded: typeof streamRuntime | undefined

export function loadStreamRuntime(): typeof streamRuntime | Promise<typeof streamRuntime> {
  return loaded ?? import('./stream-runtime.ts').then((module) => (loaded = module))
}
