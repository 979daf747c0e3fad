/** What the address of the playground says: with whom, in which conversation, and how. */
import { place, query, setQuery } from '../../app/router.ts'
import { bindings, versions } from './reach.ts'
import type { Binding, Version } from './reach.ts'

export interface Where {
  readonly agent: string | undefined
  readonly contextId: string | undefined
  readonly taskId: string | undefined
  /** What stands in the composer at first. */
  readonly text: string
  readonly version: Version
  readonly binding: Binding
  readonly isStreamed: boolean
  readonly isWireOpen: boolean
  readonly wireFilter: string
}

export function whereNow(): Where {
  const said = query.value
  return {
    agent: place.value.rest[0],
    contextId: said.get('context') ?? undefined,
    taskId: said.get('task') ?? undefined,
    text: said.get('text') ?? '',
    version: versions.find((one) => one === said.get('version')) ?? '1.0',
    binding: bindings.find((one) => one === said.get('binding')) ?? 'JSONRPC',
    isStreamed: said.get('stream') !== '0',
    isWireOpen: said.get('wire') === '1',
    wireFilter: said.get('frames') ?? '',
  }
}

/** Another conversation, in the same way. */
export function hrefOf(
  agent: string,
  to: { readonly context?: string; readonly task?: string; readonly text?: string } = {},
): string {
  const next = new URLSearchParams(to)
  for (const name of ['version', 'binding', 'stream', 'wire']) {
    const value = query.value.get(name)
    if (value !== null) next.set(name, value)
  }
  const path = `/playground/${encodeURIComponent(agent)}`
  return next.size === 0 ? path : `${path}?${next}`
}

export function toggleWire(): void {
  setQuery({ wire: query.peek().get('wire') === '1' ? undefined : '1', frames: undefined })
}
