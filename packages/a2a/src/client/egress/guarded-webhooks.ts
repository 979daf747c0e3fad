/**
 * Calls webhooks that untrusted parties register (SSRF, B-129) through the guard, which checks where a name leads when the
 * connection is made. Checks that need no lookup run at registration. Without TLS only hosts that the operator lists are
 * called.
 */
import { createAddressRule } from './address-rule.ts'
import type { Fetch } from '../contract.ts'
import { guardedFetch, type GuardOptions } from './guarded-fetch.ts'

/** Which webhooks a server may call. Default: those at public addresses, over https; `allow` adds others. */
export interface WebhookGuardOptions extends Omit<GuardOptions, 'allowHttp'> {
  /** Names (`hooks.example.com`, `*.example.com`) and addresses that webhooks must be at. Default: any public host. */
  readonly only?: readonly string[]
}

/** The two functions of `PushOptions` that decide where notifications may be sent. */
export interface WebhookGuard {
  /** Calls a webhook. Rejects with PERMISSION_DENIED if its host resolves to a disallowed address. */
  readonly fetch: Fetch
  /**
   * Returns why a webhook at this URL is not allowed, as far as that is known without a lookup; `undefined` if it may
   * be.
   */
  validateUrl(url: URL): string | undefined
}

/**
 * Creates the guard that `serve` applies to webhooks, for `push` of `createHandler`. Hosts in `allow` may be private and may use
 * http.
 *
 * @example
 * ```ts
 * import { memoryStore } from '@parley/a2a'
 * import { guardedWebhooks } from '@parley/a2a/node'
 * import { createHandler } from '@parley/a2a/server'
 *
 * const handler = createHandler({
 *   name: 'Echo',
 *   agent: ({ text }) => text,
 *   store: memoryStore(),
 *   push: { ...guardedWebhooks({ allow: ['hooks.internal'] }) },
 * })
 * ```
 */
export function guardedWebhooks(options: WebhookGuardOptions = {}): WebhookGuard {
  const rule = createAddressRule(options)
  const publicOnly = createAddressRule({})
  const only = options.only === undefined ? undefined : createAddressRule({ allow: options.only })
  const secure = guardedFetch(options)
  const plain = guardedFetch({ ...options, allowHttp: true })

  /** The operator allows this host although it is not public. */
  function isAllowlisted(host: string): boolean {
    if (rule.allowsHost(host)) return true
    const address = isLocalName(host) ? '127.0.0.1' : host
    return rule.allowsAddress(address) && !publicOnly.allowsAddress(address)
  }

  return {
    fetch: (request) => (isAllowlisted(hostOf(new URL(request.url))) ? plain : secure)(request),
    validateUrl(url) {
      const host = hostOf(url)
      if (only !== undefined && !only.allowsHost(host) && options.only?.includes(host) !== true) {
        return 'must be at a host that this server is allowed to call'
      }
      if (isAllowlisted(host)) return undefined
      const isInside = isLocalName(host) || (isAddress(host) && !publicOnly.allowsAddress(host))
      if (isInside) return 'must be at a public address, or at a host that the operator lists in push.allow'
      return url.protocol === 'https:' ? undefined : 'must be https, or at a host that the operator lists in push.allow'
    },
  }
}

/** The URL parser has converted numbers in every other notation to dotted form. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^[\d.]+$/.test(host)
}

function isLocalName(host: string): boolean {
  return /(^|\.)localhost$/i.test(host)
}
