/** The bindings of a client that its caller does not pass: their code is loaded when an interface needs it. */
import { findBinding, httpBindingNames } from '../bindings/protocol-bindings.ts'
import type { ClientBinding } from './contract.ts'
import { createHttpTransport } from './http/http-transport.ts'
import { simpleTasksBindingUri } from './http/http-url.ts'
import { versionIds } from '../versions/version-loaders.ts'
import { loadPart } from './load-version.ts'

export async function loadBinding(name: string): Promise<Pick<ClientBinding, 'open'>> {
  const loading = findBinding(name)?.loadClient?.()
  if (!loading) return createSimpleTasksBinding()
  const outgoing = await loadPart(name, loading)
  return { open: ({ url }, version, parts) => createHttpTransport(url, outgoing(version), version, parts) }
}

/**
 * Simple tasks, for peers from before cards listed interfaces. `timeoutMs` is how long the peer may take for a task; by default
 * the peer decides.
 */
export function createSimpleTasksBinding(timeoutMs?: number): ClientBinding {
  return {
    protocolBinding: simpleTasksBindingUri,
    versions: ['0.2'],
    async open({ url }, _version, parts) {
      const { createSimpleTasksTransport } = await import('./simple-tasks/simple-tasks-transport.ts')
      return createSimpleTasksTransport(url, parts, timeoutMs)
    },
  }
}

/**
 * Bindings for `connect` that keep the fields of a 1.0 response that this SDK does not know: the two over HTTP, and those that you
 * pass. `toProtoJson` writes the fields again; nothing else sees them. Pass `prefer: []` for the order of the card: by default
 * `connect` prefers the bindings that you pass.
 */
export function keepUnknownFields(...bindings: readonly ClientBinding[]): readonly ClientBinding[] {
  const overHttp = httpBindingNames.map((protocolBinding): ClientBinding => {
    const open: ClientBinding['open'] = async (...about) => (await loadBinding(protocolBinding)).open(...about)
    return { protocolBinding, versions: versionIds, open }
  })
  return [...overHttp, ...bindings].map((binding) => ({
    ...binding,
    async open(at, version, parts) {
      const { losslessVersion } = await import('../versions/lossless.ts')
      return binding.open(at, losslessVersion(version), parts)
    },
  }))
}
