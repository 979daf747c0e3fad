/** The parameters in the address of the playground: agent, conversation and request options. */
import { pageRoute, query, setQuery } from '../../app/router.ts'
import { type BindingName, bindingNames } from '../../components/binding-titles.ts'
import { type Version, versions } from './agent-connections.ts'

export interface PlaygroundParams {
  readonly agent: string | undefined
  readonly contextId: string | undefined
  readonly taskId: string | undefined
  /** Initial text of the composer. */
  readonly text: string
  readonly version: Version
  readonly binding: BindingName
  readonly isStreamed: boolean
  readonly isWireOpen: boolean
  readonly wireFilter: string
}

export function playgroundParams(): PlaygroundParams {
  const said = query.value
  return {
    agent: pageRoute.value.segments[0],
    contextId: said.get('context') ?? undefined,
    taskId: said.get('task') ?? undefined,
    text: said.get('text') ?? '',
    version: versions.find((one) => one === said.get('version')) ?? '1.0',
    binding: bindingNames.find((one) => one === said.get('binding')) ?? 'JSONRPC',
    isStreamed: said.get('stream') !== '0',
    isWireOpen: said.get('wire') === '1',
    wireFilter: said.get('frames') ?? '',
  }
}

/** Another conversation, with the same options. */
export function conversationHref(
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
