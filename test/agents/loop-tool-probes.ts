/**
 * Lets a test watch and delay its tools, by a probe name that the model passes. Separate from the tools, which are
 * loaded again for each agent.
 */
export interface ToolProbe {
  readonly calls: string[]
  readonly release: PromiseWithResolvers<void>
  readonly started: PromiseWithResolvers<void>
  readonly stopped: PromiseWithResolvers<void>
}

const toolProbes = new Map<string, ToolProbe>()

export function toolProbe(name: string): ToolProbe {
  const known = toolProbes.get(name)
  const probe = known ?? {
    calls: [],
    release: Promise.withResolvers<void>(),
    started: Promise.withResolvers<void>(),
    stopped: Promise.withResolvers<void>(),
  }
  if (known === undefined) toolProbes.set(name, probe)
  return probe
}
