/** Which agents and hosts a credential belongs to. */
import { urlOfAddress } from '@parley/a2a/internal'
import type { StoredLogin } from './token-store.ts'

/** The host of a URL of the web; `undefined` for a file. */
export function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && /^https?:/i.test(url) && URL.canParse(url) ? new URL(url).hostname : undefined
}

/** The origin that logins are bound to: that of the card, or of the interface if the card is a file. */
export function loginOrigin(cardUrl: string | undefined, interfaceUrl: string): string {
  return new URL(hostOf(cardUrl) === undefined ? webAddress(interfaceUrl) : (cardUrl ?? '')).origin
}

/** A gRPC interface is `host:port`, or has a scheme of its own. Without one it uses TLS unless it is on loopback. */
function webAddress(url: string): string {
  return urlOfAddress(url).replace(/^grpc/i, 'http')
}

/** Whether a login may be used at this host: the one of its origin, or one that the card named at the login. */
export function coversHost({ origin, hosts }: Pick<StoredLogin, 'origin' | 'hosts'>, hostname: string): boolean {
  return new URL(origin).hostname === hostname || hosts.includes(hostname)
}
