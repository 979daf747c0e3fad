/**
 * `keepUnknownFields`: bindings that read responses with the fields that this SDK does not know, for programs that pass on what an
 * agent sent. A binding of the caller replaces the built-in one, so other programs pay nothing for it.
 */
import { httpBindingNames } from '../bindings/protocol-bindings.ts'
import type { ClientBinding, ClientTransport } from './contract.ts'
import { loadBinding } from './load-binding.ts'

/**
 * Bindings for `connect` that keep the fields of a 1.0 response that this SDK does not know: the two over HTTP, and those that you
 * pass, such as `grpc()`. `toProtoJson` of `@parley/a2a` writes the fields again; nothing else sees them.
 *
 * Pass `prefer: []` for the order of the card: by default `connect` prefers the bindings that you pass.
 *
 * @example
 * ```ts
 * import { toProtoJson } from '@parley/a2a'
 * import { connect, keepUnknownFields } from '@parley/a2a/client'
 *
 * const agent = await connect('https://agent.example.com', { bindings: keepUnknownFields(), prefer: [] })
 * console.log(toProtoJson('Task', await agent.get('task-1')))
 * ```
 */
export function keepUnknownFields(...bindings: readonly ClientBinding[]): readonly ClientBinding[] {
  const overHttp = httpBindingNames.map((protocolBinding) =>
    lossless({ protocolBinding, versions: ['1.0', '0.3', '0.2'] }, () => loadBinding(protocolBinding)),
  )
  return [...overHttp, ...bindings.map((binding) => lossless(binding, async () => binding))]
}

function lossless(
  { protocolBinding, versions }: Pick<ClientBinding, 'protocolBinding' | 'versions'>,
  load: () => Promise<Pick<ClientBinding, 'open'>>,
): ClientBinding {
  return {
    protocolBinding,
    versions,
    open(at, version, parts): ClientTransport {
      let opened: Promise<ClientTransport> | undefined
      const transport = async (): Promise<ClientTransport> => {
        const [binding, { losslessVersion }] = await Promise.all([load(), import('../versions/lossless.ts')])
        return binding.open(at, losslessVersion(version), parts)
      }
      return {
        call: async (operation, request, about) => (await (opened ??= transport())).call(operation, request, about),
        open: async (operation, request, about) => (await (opened ??= transport())).open(operation, request, about),
      }
    },
  }
}
