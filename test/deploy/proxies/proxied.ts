/** A proxy with its hubs, and the clients that reach them through it. */
import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { nodeFetch } from '@parley/a2a/node'
import { selfSigned } from '../project-imports.ts'
import { freePort } from '../../free-port.ts'
import { newFolder } from '../../hub/running-hub.ts'
import { hubOfPage, hubWithoutPublicUrl } from './proxied-hub.ts'
import type { ProxiedHub } from './proxied-hub.ts'
import { startProxy } from './running-proxy.ts'
import type { ProxyPlace, ProxySoftware, RunningProxy, Upstreams } from './running-proxy.ts'
import { openTap } from './tap.ts'
import type { Tap } from './tap.ts'

export interface Proxied {
  readonly url: string
  readonly httpUrl: string
  readonly ca: string
  readonly fetch: ReturnType<typeof nodeFetch>
  /** With the configuration of the page. */
  readonly hub: ProxiedHub
  readonly otherHub: ProxiedHub
  /** Between the proxy and `hub`. */
  readonly tap: Tap
  readonly grpcTap: Tap
  /** `hub` alone, through the taps. */
  readonly oneHub: Upstreams
  proxy: RunningProxy
  startProxy(): Promise<void>
  curl(...args: readonly string[]): Promise<string>
  /** A curl that keeps running; resolves when it has printed the pattern, and fails if it ends before. */
  openStream(...args: readonly string[]): OpenStream
  /** The whole response to these bytes, until the proxy closes the connection. */
  sendRaw(bytes: string): Promise<string>
  sh(script: string): Promise<string>
}

export interface OpenStream {
  text(): string
  waitFor(pattern: RegExp): Promise<void>
  ended(): Promise<number | null>
}

const run = promisify(execFile)
/** A last guard, in seconds: no response takes this long. */
const guard = '120'

export async function openProxied(software: ProxySoftware, program: string): Promise<Proxied> {
  const host = 'localhost'
  const { cert, key } = selfSigned(host)
  const folder = await newFolder({ 'fullchain.pem': cert, 'privkey.pem': key })
  const place: ProxyPlace = {
    folder,
    host,
    httpsPort: await freePort(),
    httpPort: await freePort(),
    adminPort: await freePort(),
  }
  writeFileSync(join(folder, '.curlrc'), `cacert = "${join(folder, 'fullchain.pem')}"\nipv4\nmax-time = ${guard}\n`)
  const env = { PATH: process.env['PATH'], CURL_HOME: folder }
  const [hub, otherHub] = await Promise.all([
    hubOfPage('one', `${host}:${place.httpsPort}`),
    hubWithoutPublicUrl('two', '{ perAddress: 30/min }'),
  ])
  await Promise.all([hub.start(), otherHub.start()])
  const [tap, grpcTap] = await Promise.all([openTap(hub.port), openTap(hub.grpcPort)])
  const oneHub = { http: [tap.address], grpc: [grpcTap.address] }

  // A test may restart the proxy, and it runs until all tests have ended: it belongs to the context of this call.
  const suite = new AsyncResource('proxy')
  const proxied: Proxied = {
    url: `https://${host}:${place.httpsPort}`,
    httpUrl: `http://${host}:${place.httpPort}`,
    ca: cert,
    fetch: nodeFetch({ tls: { ca: cert } }),
    hub,
    otherHub,
    tap,
    grpcTap,
    oneHub,
    proxy: await startProxy(software, program, place, oneHub),
    async startProxy() {
      proxied.proxy = await suite.runInAsyncScope(() => startProxy(software, program, place, oneHub))
    },
    curl: async (...args) => (await run('curl', ['-s', ...args], { env, maxBuffer: 100_000_000 })).stdout,
    openStream(...args) {
      const child = spawn('curl', ['-sN', ...args], { env })
      let text = ''
      const waiting = new Set<() => void>()
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        for (const look of waiting) look()
      })
      const closed = once(child, 'close') as Promise<[number | null]>
      return {
        text: () => text,
        async waitFor(pattern) {
          const found = Promise.withResolvers<void>()
          const look = (): void => {
            if (pattern.test(text)) found.resolve()
          }
          waiting.add(look)
          look()
          void closed.then(() => found.reject(new Error(`the stream ended without ${String(pattern)}:\n${text}`)))
          await found.promise.finally(() => waiting.delete(look))
        },
        ended: async () => (await closed)[0],
      }
    },
    async sendRaw(bytes) {
      const socket = connectTls({ host: '127.0.0.1', port: place.httpsPort, servername: host, ca: cert })
      let text = ''
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
      socket.on('error', () => {})
      socket.write(bytes)
      await once(socket, 'close')
      return text
    },
    sh: async (script) => (await run('sh', ['-c', script], { env })).stdout,
  }
  return proxied
}

/** The arguments of curl that send a message over REST. */
export function messageTo({ url }: Proxied, agent: string, text: string, method = 'message:send'): readonly string[] {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  const headers = ['-H', 'Content-Type: application/json', '-H', 'A2A-Version: 1.0']
  return [`${url}/a2a/${agent}/${method}`, ...headers, '-d', JSON.stringify({ message })]
}

/** Which hub answers, by its card. */
export async function answeringHub(proxied: Proxied, ...args: readonly string[]): Promise<string> {
  const card = await proxied.curl(...args, `${proxied.url}/a2a/whoami/.well-known/agent-card.json`)
  const name = /"description":"(one|two)"/.exec(card)?.[1]
  assert.ok(name !== undefined, card)
  return name
}
