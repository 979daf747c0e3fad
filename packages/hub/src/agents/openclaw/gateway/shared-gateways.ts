/** The open gateways: agents with the same address and credentials share one until the last of them closes. */
import type { KeyValueStore } from '@parley/a2a'
import { openGateway } from './gateway.ts'
import type { Gateway, GatewayOptions } from './gateway.ts'

interface SharedGateway {
  readonly gateway: Gateway
  users: number
}

/** By key-value store: another hub in this process is another device. */
const sharedGateways = new WeakMap<KeyValueStore, Map<string, SharedGateway>>()

export function shareGateway(notes: KeyValueStore, deviceName: string, options: GatewayOptions): Gateway {
  const { url, credentials, approvals } = options
  const key = JSON.stringify([url, credentials.token, credentials.password, approvals, deviceName])
  const all = sharedGateways.get(notes) ?? new Map<string, SharedGateway>()
  sharedGateways.set(notes, all)
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
