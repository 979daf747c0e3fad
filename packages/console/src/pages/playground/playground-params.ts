/** The parameters in the address of the playground: agent, conversation and request options. */
import { newestVersion, versionIds } from '@parley/a2a/internal'
import { pageRoute, query, setQuery } from '../../app/router.ts'
import { bindingNames } from '../../components/binding-titles.ts'

export type PlaygroundParams = ReturnType<typeof playgroundParams>

export function playgroundParams() {
  const params = query.value
  return {
    agent: pageRoute.value.segments[0],
    contextId: params.get('context') ?? undefined,
    taskId: params.get('task') ?? undefined,
    /** Initial text of the composer. */
    text: params.get('text') ?? '',
    version: versionIds.find((one) => one === params.get('version')) ?? newestVersion,
    binding: bindingNames.find((one) => one === params.get('binding')) ?? 'JSONRPC',
    isStreamed: params.get('stream') !== '0',
    isProtocolOpen: params.get('protocol') === '1',
    protocolFilter: params.get('frames') ?? '',
  }
}

/** Another conversation, with the same options. */
export function conversationHref(
  agent: string,
  to: { readonly context?: string; readonly task?: string; readonly text?: string } = {},
): string {
  const next = new URLSearchParams(to)
  for (const name of ['version', 'binding', 'stream', 'protocol']) {
    const value = query.value.get(name)
    if (value !== null) next.set(name, value)
  }
  const path = `/playground/${encodeURIComponent(agent)}`
  return next.size === 0 ? path : `${path}?${next}`
}

export function toggleProtocol(): void {
  setQuery({ protocol: query.peek().get('protocol') === '1' ? undefined : '1', frames: undefined })
}
