/** Connects a test with the module that it loads: they share one process, and both know the module's folder. */

export interface ModuleProbe {
  readonly started: PromiseWithResolvers<void>
  readonly stopped: PromiseWithResolvers<void>
  readonly released: PromiseWithResolvers<void>
  close(): void
}

const probesKey = Symbol.for('parley.test.module-bench')
const moduleProbes = ((globalThis as Record<symbol, unknown>)[probesKey] ??= new Map()) as Map<string, ModuleProbe>

export function openModuleProbe(folder: string): ModuleProbe {
  const probe = {
    started: Promise.withResolvers<void>(),
    stopped: Promise.withResolvers<void>(),
    released: Promise.withResolvers<void>(),
    close: () => void moduleProbes.delete(folder),
  }
  moduleProbes.set(folder, probe)
  return probe
}
