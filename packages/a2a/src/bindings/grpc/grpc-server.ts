/** What the server says of gRPC without its libraries: the payloads it carries, and the entry of a card. */
import type { BindingServer } from '../protocol-binding.ts'

export const grpcServer: BindingServer = {
  dialectOf: ({ proto }) => proto,
  isIn: () => true,
  cardEntry({ id }, { tenant, ownAddress }) {
    if (ownAddress === undefined || (id !== '1.0' && !ownAddress.isDefault)) return undefined
    const names = id === '1.0' ? [ownAddress.tenant, tenant].filter((name) => name !== undefined) : []
    return { url: ownAddress.url, ...(names.length === 0 ? {} : { tenant: names.join('/') }) }
  },
}
