/**
 * A fetch for URLs that untrusted parties choose (SSRF, B-26). It needs Node, because only there can code see which addresses a
 * name resolves to and which peer a connection has. It checks the address as written, every address that a name resolves to,
 * and the peer of the resulting connection, so that a DNS response that changes in between has no effect. Redirects are
 * returned to the caller: following one goes through these checks again. Its errors do not reveal addresses within our network.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { rootCertificates } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { A2AError } from '../../model/error.ts'
import type { DirectFetch, Fetch } from '../contract.ts'
import { createNodeExchange, idleConnectionMs } from './node-exchange.ts'

/** Which addresses a guarded request may reach. Default: public ones, over https. */
export interface GuardOptions {
  /**
   * Names (`agents.internal`, `*.internal`), addresses and ranges (`10.1.0.0/16`) that are allowed although they are not
   * public.
   */
  readonly allow?: readonly string[]
  /** Also allows loopback addresses. */
  readonly allowLoopback?: boolean
  /** Also allows URLs without TLS. Default: https only. */
  readonly allowHttp?: boolean
  /** The allowed ports. Default: any. */
  readonly ports?: readonly number[]
  /** Certificates to trust besides those of the machine, in PEM. */
  readonly ca?: string
  /** Replaces the machine's resolver; its results are checked like any other. */
  readonly lookup?: LookupFunction
}

/**
 * Creates a fetch for URLs that untrusted parties choose (SSRF protection). It checks every resolved address and the
 * peer of the connection, and does not follow redirects. Rejects with PERMISSION_DENIED for a disallowed address.
 * Throws INVALID_PARAMS if `allow` holds an entry that is neither a name, an address nor a range.
 *
 * @example
 * ```ts
 * import { guardedFetch } from '@parley/a2a/node'
 *
 * const fetch = guardedFetch({ allow: ['10.1.0.0/16', '*.internal'] })
 * const response = await fetch(new Request('https://hooks.example.com/a', { method: 'POST', body: '{}' }))
 * console.log(response.status)
 * ```
 */
export function guardedFetch(options: GuardOptions = {}): DirectFetch {
  const { allowHttp = false, ports, ca } = options
  const { admits: isAllowed, lookup } = createGuardedLookup(options)
  const settings = { keepAlive: true, timeout: idleConnectionMs, lookup }
  const plain = withPeerCheck(new HttpAgent(settings), isAllowed)
  const secure = withPeerCheck(
    new HttpsAgent({ ...settings, ...(ca !== undefined ? { ca: [...rootCertificates, ca] } : {}) }),
    isAllowed,
  )

  function check(url: URL): void {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const isSecure = url.protocol === 'https:'
    if (!isSecure && !(allowHttp && url.protocol === 'http:')) throw deniedError(`${url.protocol}// is not allowed`)
    if (url.username + url.password !== '') throw deniedError('URLs with a password are not allowed')
    const port = Number(url.port || (isSecure ? 443 : 80))
    if (ports?.includes(port) === false) throw deniedError(`Port ${port} is not allowed`)
    // The URL parser has converted numbers in every notation to an IP address. A name is checked when it resolves.
    if (isIP(host) !== 0 && !isAllowed(host, host)) throw blockedError(host)
  }
  return createNodeExchange({ plain, secure, check })
}

/**
 * Creates a function that resolves a host to the addresses that the guard allows, for transports with connections of
 * their own: `grpc({ resolve: guardedLookup() })`. It rejects with PERMISSION_DENIED if there is none.
 */
export function guardedLookup(
  options: Omit<GuardOptions, 'allowHttp' | 'ca'> = {},
): (host: string, port: number) => Promise<readonly string[]> {
  const { ports } = options
  const { admits: isAllowed, lookup } = createGuardedLookup(options)
  return (host, port) =>
    new Promise((resolve, reject) => {
      if (ports?.includes(port) === false) reject(deniedError(`Port ${port} is not allowed`))
      else if (isIP(host) !== 0) {
        if (isAllowed(host, host)) resolve([host])
        else reject(blockedError(host))
      } else {
        lookup(host, { all: true }, (error, found) => {
          if (error) reject(error)
          else resolve((found as LookupAddress[]).map(({ address }) => address))
        })
      }
    })
}

/** Calls back with the addresses of a name that the rule allows, or with an error. */
function createGuardedLookup(options: GuardOptions) {
  const { lookup: resolve = systemLookup } = options
  const rule = createAddressRule(options)
  const isAllowed = (host: string, address: string | undefined): boolean =>
    rule.allowsHost(host) || (address !== undefined && rule.allowsAddress(address))
  const lookup: LookupFunction = (host, how, callback) => {
    resolve(host, { ...how, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const admitted = (Array.isArray(found) ? found : []).filter(({ address }) => isAllowed(host, address))
      const [first] = admitted
      if (first === undefined) callback(blockedError(host), [])
      else if (how.all === true) callback(null, admitted)
      else callback(null, first.address, first.family)
    })
  }
  return { admits: isAllowed, lookup }
}

/** Checks the peer of every new connection before any data is sent to it. */
function withPeerCheck<A extends HttpAgent>(
  agent: A,
  isAllowed: (host: string, address: string | undefined) => boolean,
): A {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback) as Socket
    const host = String(options.host)
    socket.once('connect', () => {
      if (!isAllowed(host, socket.remoteAddress)) socket.destroy(blockedError(host))
    })
    return socket
  }
  return agent
}

const deniedError = (message: string): A2AError => new A2AError('PERMISSION_DENIED', message)
const blockedError = (host: string): A2AError => deniedError(`Blocked: ${host} resolves to a disallowed address`)

// Webhooks. Checks that need no lookup run at registration (B-129).

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

// Which addresses a request may reach: public ones, and those that are explicitly allowed. Public means what the registries call
// global unicast; an IPv4 address embedded in an IPv6 address is judged as IPv4.

interface AddressRule {
  /** Whether a name is allowed regardless of its addresses. */
  allowsHost(name: string): boolean
  /** Returns false for anything that is not an IP address. */
  allowsAddress(address: string): boolean
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

const loopback = ['127.0.0.0/8', '::1/128']

/** Throws INVALID_PARAMS for an entry that is neither a name, an address nor a range. */
export function createAddressRule({
  allow = [],
  allowLoopback = false,
}: Pick<GuardOptions, 'allow' | 'allowLoopback'>): AddressRule {
  const names: string[] = []
  const ranges: Range[] = []
  for (const entry of allowLoopback ? [...allow, ...loopback] : allow) {
    const range = rangeOf(entry)
    if (range !== undefined) ranges.push(range)
    else if (/^(\*\.)?[\w-]+(\.[\w-]+)*\.?$/.test(entry)) names.push(normalizeHost(entry))
    else throw new A2AError('INVALID_PARAMS', `"${entry}" is not a host name, an address or an address range`)
  }
  return {
    allowsHost(name) {
      const given = normalizeHost(name)
      return names.some((known) => (known.startsWith('*.') ? given.endsWith(known.slice(1)) : given === known))
    },
    allowsAddress(text) {
      if (!ipaddr.isValid(text)) return false
      const address = ipaddr.parse(text)
      const inner = embeddedIPv4(address)
      const isAllowed = [address, inner].some((form) => form && ranges.some((range) => isWithin(form, range)))
      return isAllowed || isPublic(inner ?? address)
    },
  }
}

function rangeOf(entry: string): Range | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry)
  if (!ipaddr.isValid(entry)) return undefined
  const address = ipaddr.parse(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

const normalizeHost = (name: string): string => name.toLowerCase().replace(/\.$/, '')

function isWithin(address: Address, range: Range): boolean {
  return address.kind() === range[0].kind() && address.match(range)
}

/** IPv4 in its mapped, NAT64 and 6to4 forms. */
function embeddedIPv4(address: Address): ipaddr.IPv4 | undefined {
  if (address.kind() === 'ipv4') return undefined
  const six = address as ipaddr.IPv6
  const from = six.range() === '6to4' ? 2 : six.isIPv4MappedAddress() || isWithin(six, wellKnownNat64) ? 12 : undefined
  return from === undefined ? undefined : new ipaddr.IPv4(six.toByteArray().slice(from, from + 4))
}

/** Other NAT64 prefixes (RFC 8215) are local to one network. */
const wellKnownNat64 = ipaddr.parseCIDR('64:ff9b::/96')
/** All allocated unicast space. The library counts the rest as unicast too, including `::127.0.0.1`. */
const globalUnicast = ipaddr.parseCIDR('2000::/3')

function isPublic(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, globalUnicast))
}
