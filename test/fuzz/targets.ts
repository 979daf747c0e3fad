/** Every target of the guided fuzz, by the module that holds it: a thread loads only the one it needs. */
import type { FuzzTarget } from './guided/target.ts'

const files = [
  'target-decoders.ts',
  'target-hub-decoders.ts',
  'target-server.ts',
  'target-hub.ts',
  'target-upstream.ts',
]

export interface ListedTarget {
  readonly module: string
  readonly target: FuzzTarget
}

export async function listTargets(): Promise<readonly ListedTarget[]> {
  const lists = files.map(async (file) => {
    const module = new URL(file, import.meta.url).href
    const { targets } = (await import(module)) as { targets: readonly FuzzTarget[] }
    return targets.map((target) => ({ module, target }))
  })
  return (await Promise.all(lists)).flat()
}
