/**
 * What a server spends its CPU on, by component: the shares of the samples of a `.cpuprofile`. A sample counts for the component of the
 * nearest function on its stack that belongs to one, so that a call into Node or SQLite counts for the code that made it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly children?: readonly number[]
}

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

export interface ComponentShare {
  readonly component: string
  /** Of the time that is neither idle nor the start of the process, from 0 to 1. */
  readonly share: number
}

/** The first that matches wins. */
const components: readonly (readonly [component: string, pattern: RegExp])[] = [
  ['store', /\/stores?\/|node:sqlite|\/node_modules\/pg/],
  ['authentication', /\/hub\/src\/auth\/|\/server\/(auth|identity)|authenticat/],
  ['limits', /\/hub\/src\/limits\/|admission|-limits?\.ts|quota/],
  ['audit', /\/hub\/src\/audit\//],
  ['telemetry and traces', /\/telemetry\/|trace|span/],
  ['routing', /\/hub\/src\/(routing|registry|http)\/|resolve-route|agent-registry|\/server\/http\/dispatch/],
  ['hop', /\/hub\/src\/agents\/a2a\/|\/a2a\/src\/client\//],
  ['JSON and codecs', /\/versions\/|\/bindings\/|json/i],
  ['engine', /\/engine\/|\/model\//],
  ['agents', /\/agents\/|bench-agents/],
  ['server', /\/a2a\/src\/server\/|\/hub\/src\//],
  ['http', /^node:(internal\/)?(_?http|net|stream|_stream)|node:internal\/(http|stream_base|js_stream|streams)/],
]

const componentOf = ({ functionName, url }: ProfileNode['callFrame']): string | undefined => {
  if (functionName === '(idle)' || functionName === '(program)' || functionName === '(root)') return functionName
  if (functionName === '(garbage collector)') return 'garbage collection'
  // Compiling modules is the start of the process, and not the work.
  if (/node:internal\/modules|typescript|amaro/.test(url)) return '(start)'
  return components.find(([, pattern]) => pattern.test(url))?.[0]
}

const excluded = new Set(['(idle)', '(root)', '(start)'])

/** Largest first. `http` is what only Node's own HTTP code is on the stack of; `other` has no component. */
export function profileShares(profiles: readonly CpuProfile[]): readonly ComponentShare[] {
  const micros = new Map<string, number>()
  for (const { nodes, samples, timeDeltas } of profiles) {
    const components = new Map<number, string>()
    const byId = new Map(nodes.map((node) => [node.id, node]))
    const visit = (node: ProfileNode, inherited: string): void => {
      const own = componentOf(node.callFrame)
      // Node's HTTP code is below everything: it counts only where no component of ours made the call.
      const component = own === undefined || (own === 'http' && inherited !== 'other') ? inherited : own
      components.set(node.id, component)
      for (const id of node.children ?? []) visit(byId.get(id) as ProfileNode, component)
    }
    const root = nodes[0]
    if (root === undefined) continue
    components.set(root.id, '(root)')
    for (const id of root.children ?? []) visit(byId.get(id) as ProfileNode, 'other')
    samples.forEach((id, index) => {
      const component = components.get(id) ?? 'other'
      micros.set(component, (micros.get(component) ?? 0) + (timeDeltas[index] ?? 0))
    })
  }
  const counted = [...micros].filter(([component]) => !excluded.has(component))
  const total = counted.reduce((sum, [, each]) => sum + each, 0)
  return counted
    .map(([component, each]) => ({
      component: component === '(program)' ? 'native code' : component,
      share: each / total,
    }))
    .toSorted((a, b) => b.share - a.share)
}

/** Of all profiles in a folder. */
export function readProfiles(directory: string): readonly CpuProfile[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')) as CpuProfile)
}

export const shareLine = ({ component, share }: ComponentShare): string =>
  `${(share * 100).toFixed(1).padStart(5)} %  ${component}`
