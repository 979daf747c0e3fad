/** Loads the client half of a built-in binding when an interface needs it. */
import { findBinding } from '../bindings/protocol-bindings.ts'
import type { ClientBinding } from './contract.ts'
import { createHttpTransport } from './http/http-transport.ts'
import { loadPart } from './load-version.ts'

export async function loadBinding(name: string): Promise<Pick<ClientBinding, 'open'>> {
  const loading = findBinding(name)?.loadClient?.()
  if (!loading) return (await import('./simple-tasks/simple-tasks-binding.ts')).createSimpleTasksBinding()
  const outgoing = await loadPart(name, loading)
  return { open: ({ url }, version, parts) => createHttpTransport(url, outgoing(version), version, parts) }
}
