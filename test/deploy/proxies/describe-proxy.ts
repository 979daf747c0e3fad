/** The checks that every proxy of deploy/ passes. */
import { describe, it } from 'node:test'
import { findOrInstall } from '../project-imports.ts'
import { openProxied } from './proxied.ts'
import type { Proxied } from './proxied.ts'
import { checkActiveHealth, checkReplicas } from './replica-checks.ts'
import { checkForwardedAddresses, checkRequests } from './request-checks.ts'
import { findProxy } from './running-proxy.ts'
import type { ProxySoftware } from './running-proxy.ts'
import { checkStreams } from './stream-checks.ts'

export interface ProxyTraits {
  /** The line of its log about a hub that does not answer /readyz, if it asks. */
  readonly unhealthy?: (address: string) => RegExp
}

export function describeProxy(software: ProxySoftware, { unhealthy }: ProxyTraits = {}): void {
  describe(`${software.name} in front of hubs, with the files of deploy/`, { timeout: 600_000 }, async () => {
    const found = await findProxy(software.name)
    const curl = await findOrInstall('curl')
    if ('skip' in found || curl === undefined) {
      it('is checked', { skip: 'skip' in found ? found.skip : 'curl is not installed' }, () => {})
      return
    }
    const opened = await openProxied(software, found.program)
    const proxied = (): Proxied => opened
    checkRequests(proxied)
    checkStreams(proxied)
    // From here on other hubs are behind it.
    checkForwardedAddresses(proxied)
    checkReplicas(proxied)
    if (unhealthy !== undefined) checkActiveHealth(proxied, unhealthy)
  })
}
