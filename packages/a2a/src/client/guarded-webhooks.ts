/**
 * Calls to webhooks that strangers name (SSRF, B-129): through the guard, which looks at where a name really leads when
 * the connection is made. What can be said of an address without asking anybody is said when it is registered. Without
 * TLS only to hosts that whoever runs the server has named.
 */
import { createAddressRule } from './address-rule.ts'
import type { Fetch } from './contract.ts'
import { guardedFetch } from './guarded-fetch.ts'
import type { GuardOptions } from './guarded-fetch.ts'

export interface WebhookGuardOptions extends Omit<GuardOptions, 'allowHttp'> {
  /** Names (`hooks.example.com`, `*.example.com`) and addresses that webhooks must be at. Default: any public place. */
  readonly only?: readonly string[]
}

export interface WebhookGuard {
  readonly fetch: Fetch
  /** Why there must be no webhook at this address, if that can be told without asking anybody. */
  refuses(url: URL): string | undefined
}

export function guardedWebhooks(options: WebhookGuardOptions = {}): WebhookGuard {
  const rule = createAddressRule(options)
  const strict = createAddressRule({})
  const only = options.only === undefined ? undefined : createAddressRule({ allow: options.only })
  const secure = guardedFetch(options)
  const plain = guardedFetch({ ...options, allowHttp: true })

  /** Somebody who runs this server wants it to be called though it is not public. */
  function isNamed(host: string): boolean {
    if (rule.trusts(host)) return true
    const address = isLocalName(host) ? '127.0.0.1' : host
    return rule.admits(address) && !strict.admits(address)
  }

  return {
    fetch: (request) => (isNamed(hostOf(new URL(request.url))) ? plain : secure)(request),
    refuses(url) {
      const host = hostOf(url)
      if (only !== undefined && !only.trusts(host) && options.only?.includes(host) !== true) {
        return 'must be at one of the hosts that this server calls'
      }
      if (isNamed(host)) return undefined
      const isInside = isLocalName(host) || (isAddress(host) && !strict.admits(host))
      if (isInside) return 'must be at a public address, or at a host that the operator lists in push.allow'
      return url.protocol === 'https:' ? undefined : 'must be https, or at a host that the operator lists in push.allow'
    },
  }
}

/** As a URL has it, numbers in every other notation are dotted by now. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^[\d.]+$/.test(host)
}

function isLocalName(host: string): boolean {
  return /(^|\.)localhost$/i.test(host)
}
