/** How a test and the module that it loads meet: they are in one process, and both know the module's folder. */

export interface ModuleBench {
  readonly begun: PromiseWithResolvers<void>
  readonly stopped: PromiseWithResolvers<void>
  readonly released: PromiseWithResolvers<void>
  close(): void
}

const place = Symbol.for('parley.test.module-bench')
const benches = ((globalThis as Record<symbol, unknown>)[place] ??= new Map()) as Map<string, ModuleBench>

export function openBench(folder: string): ModuleBench {
  const bench = {
    begun: Promise.withResolvers<void>(),
    stopped: Promise.withResolvers<void>(),
    released: Promise.withResolvers<void>(),
    close: () => void benches.delete(folder),
  }
  benches.set(folder, bench)
  return bench
}
