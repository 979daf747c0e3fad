/**
 * A fetch for addresses that strangers choose (SSRF, B-26): of Node, because only there can one see where a name leads
 * and who is at the other end. Checked are the address as written, every address that a name resolves to, and the peer
 * of the connection that came of it, so that an answer that changes in between is of no use. Redirects are handed back:
 * whoever follows them comes through here again. Its refusals do not say what an address within our network is.
 */
import { lookup as systemLookup } from 'node:dns'
import type { LookupAddress } from 'node:dns'
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { rootCertificates } from 'node:tls'
import { A2AError } from '../model/error.ts'
import { createAddressRule } from './address-rule.ts'
import type { AddressRuleOptions } from './address-rule.ts'
import type { Fetch } from './contract.ts'

export interface GuardOptions extends AddressRuleOptions {
  /** Without TLS too. Default: https only. */
  readonly allowHttp?: boolean
  /** Default: any. */
  readonly ports?: readonly number[]
  /** Certificates to trust besides those of the machine, in PEM. */
  readonly ca?: string
  /** Takes the place of the machine's resolver; its answers are checked like any other. */
  readonly lookup?: LookupFunction
}

/** Idle connections are closed before a peer would: a request on one that is just closing fails for no reason. */
const idleMs = 4_000
/** Of the connection and not of the message: made anew by whoever sends. */
const hopByHop = /^(connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/

export function guardedFetch(options: GuardOptions = {}): Fetch {
  const { allowHttp = false, ports, ca } = options
  const { admits, lookup } = createLookup(options)
  const settings = { keepAlive: true, timeout: idleMs, lookup }
  const plain = watched(new HttpAgent(settings), admits)
  const secure = watched(
    new HttpsAgent({ ...settings, ...(ca !== undefined ? { ca: [...rootCertificates, ca] } : {}) }),
    admits,
  )

  return async (request) => {
    const url = new URL(request.url)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const isSecure = url.protocol === 'https:'
    if (!isSecure && !(allowHttp && url.protocol === 'http:')) throw refusal(`${url.protocol}// is not allowed`)
    if (url.username + url.password !== '') throw refusal('An address with a password is not allowed')
    const port = Number(url.port || (isSecure ? 443 : 80))
    if (ports?.includes(port) === false) throw refusal(`Port ${port} is not allowed`)
    // Numbers in every other notation have become an address when the URL was read. A name is checked when it resolves.
    if (isIP(host) !== 0 && !admits(host, host)) throw forbidden(host)

    const { signal } = request
    signal.throwIfAborted()
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
    const about = {
      method: request.method,
      // Nothing is unpacked here, so nothing is asked to be packed.
      headers: { ...headersOf(request), 'accept-encoding': 'identity' },
    }
    const outgoing = isSecure
      ? httpsRequest(url, { ...about, agent: secure })
      : httpRequest(url, { ...about, agent: plain })
    return exchange(outgoing, body, signal)
  }
}

/**
 * Resolves a host to the addresses that the guard admits, for transports with connections of their own:
 * `grpc({ resolve: guardedLookup() })`. Rejects with PERMISSION_DENIED if there is none.
 */
export function guardedLookup(
  options: Omit<GuardOptions, 'allowHttp' | 'ca'> = {},
): (host: string, port: number) => Promise<readonly string[]> {
  const { ports } = options
  const { admits, lookup } = createLookup(options)
  return (host, port) =>
    new Promise((resolve, reject) => {
      if (ports?.includes(port) === false) reject(refusal(`Port ${port} is not allowed`))
      else if (isIP(host) !== 0) {
        if (admits(host, host)) resolve([host])
        else reject(forbidden(host))
      } else {
        lookup(host, { all: true }, (error, found) => {
          if (error) reject(error)
          else resolve((found as LookupAddress[]).map(({ address }) => address))
        })
      }
    })
}

/** Calls back with the addresses of a name that the rule admits, or with a refusal. */
function createLookup(options: GuardOptions) {
  const { lookup: resolve = systemLookup } = options
  const rule = createAddressRule(options)
  const admits = (host: string, address: string | undefined): boolean =>
    rule.trusts(host) || (address !== undefined && rule.admits(address))
  const lookup: LookupFunction = (host, how, callback) => {
    resolve(host, { ...how, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const admitted = (Array.isArray(found) ? found : []).filter(({ address }) => admits(host, address))
      const [first] = admitted
      if (first === undefined) callback(forbidden(host), [])
      else if (how.all === true) callback(null, admitted)
      else callback(null, first.address, first.family)
    })
  }
  return { admits, lookup }
}

/** Has the peer of every new connection checked before anything is said to it. */
function watched<A extends HttpAgent>(agent: A, admits: (host: string, address: string | undefined) => boolean): A {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback) as Socket
    const host = String(options.host)
    socket.once('connect', () => {
      if (!admits(host, socket.remoteAddress)) socket.destroy(forbidden(host))
    })
    return socket
  }
  return agent
}

function exchange(outgoing: ClientRequest, body: Uint8Array | undefined, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    let incoming: IncomingMessage | undefined
    const onAbort = (): void => void (incoming ?? outgoing).destroy(signal.reason as Error)
    signal.addEventListener('abort', onAbort)
    outgoing.on('close', () => {
      signal.removeEventListener('abort', onAbort)
      // 101 ends the connection without any other event.
      reject(new Error('The connection was closed without an answer'))
    })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      incoming = response
      const made = responseOf(response, outgoing.method)
      made.catch(() => response.destroy())
      resolve(made)
    })
    if (signal.aborted) onAbort()
    outgoing.end(body)
  })
}

function headersOf({ headers }: Request): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !hopByHop.test(name)))
}

/** A promise, so that what a peer makes it throw does not end in an event that nobody listens to. */
async function responseOf(incoming: IncomingMessage, method: string): Promise<Response> {
  const { statusCode: status = 0, statusMessage = '', rawHeaders } = incoming
  if (status < 200 || status > 599) throw new A2AError('INVALID_AGENT_RESPONSE', `HTTP knows no status ${status}`)
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity')
    throw new A2AError('INVALID_AGENT_RESPONSE', 'The answer is compressed, which was not asked for')
  const hasBody = method !== 'HEAD' && ![204, 205, 304].includes(status)
  if (!hasBody) incoming.resume()
  // One piece is asked for when one is taken, so a slow reader slows the peer.
  const stream = hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : null
  // Node reads more than a Response takes.
  const statusText = statusMessage.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')
  return new Response(stream, { status, statusText, headers })
}

const refusal = (message: string): A2AError => new A2AError('PERMISSION_DENIED', message)
const forbidden = (host: string): A2AError => refusal(`Blocked: ${host} resolves to a disallowed address`)
