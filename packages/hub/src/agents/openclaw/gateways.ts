/** The gateways that are in use: agents with the same address and credentials share one, until the last of them closes. */
import type { Notes } from '@parley/a2a'
import { openGateway } from './gateway.ts'
import type { Gateway, GatewayOptions } from './gateway.ts'

interface Shared {
  readonly gateway: Gateway
  users: number
}

/** By whose notes they are: another hub in this process is another device. */
const inUse = new WeakMap<Notes, Map<string, Shared>>()

export function shareGateway(notes: Notes, deviceName: string, options: GatewayOptions): Gateway {
  const { url, credentials, approvals } = options
  const key = JSON.stringify([url, credentials.token, credentials.password, approvals, deviceName])
  const all = inUse.get(notes) ?? new Map<string, Shared>()
  inUse.set(notes, all)
  const shared = all.get(key) ?? { gateway: openGateway(options), users: 0 }
  all.set(key, shared)
  shared.users += 1
  let isClosed = false
  return {
    ...shared.gateway,
    close() {
      if (isClosed) return
      isClosed = true
      shared.users -= 1
      if (shared.users > 0) return
      all.delete(key)
      shared.gateway.close()
    },
  }
}
