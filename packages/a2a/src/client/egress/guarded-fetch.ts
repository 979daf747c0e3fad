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
import { A2AError } from '../../model/error.ts'
import { createAddressRule, type AddressRuleOptions } from './address-rule.ts'
import type { DirectFetch } from '../contract.ts'
import { createNodeExchange, idleConnectionMs } from './node-exchange.ts'

/** Which addresses a guarded request may reach. Default: public ones, over https. */
export interface GuardOptions extends AddressRuleOptions {
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
