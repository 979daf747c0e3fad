/** Caddy of Debian in front of real hubs, with deploy/Caddyfile as it stands. The hub has no WebSocket, so none is tested. */
import { describeProxy } from './describe-proxy.ts'
import { caddy } from './running-proxy.ts'
import { escapePattern } from './substitute.ts'

describeProxy(caddy, {
  unhealthy: (address) => new RegExp(`health_checker.active.*HTTP request failed.*${escapePattern(address)}`),
})
