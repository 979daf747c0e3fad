/**
 * A server with the hub's access control over real sockets: several agents, two token issuers, an admin. Callers
 * use a key, a token or no credentials, over every binding and in every version.
 */
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { memoryStore } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import { serve, type Server, type ServeOptions } from '@parley/a2a/node'
import type { EngineLog } from '@parley/a2a/internal'
import type { AgentSettings, FetchHandler } from '@parley/a2a/server'
import { createAdminHandler } from '../../packages/hub/src/admin/admin-handler.ts'
import { type AccessControl, createAccessControl } from '../../packages/hub/src/auth/access-control.ts'
import { createObserver } from '../../packages/hub/src/telemetry/observer.ts'
import { accessSettings } from '../../packages/hub/src/auth/admit-request.ts'
import { sectionsSchema } from '../../packages/hub/src/config/hub-config.ts'
import { createAgentPeer } from '../matrix/agent-peer.ts'
import type { RawClient } from '../matrix/raw-client.ts'

export type Binding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC'
export type Version = '0.3' | '1.0'
export interface BindingVersion {
  readonly binding: Binding
  readonly version: Version
}

export const bindingVersions: readonly BindingVersion[] = (['1.0', '0.3'] as const).flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).map((binding) => ({ binding, version })),
)

/** The credentials of each request. */
export type AuthHeaders = Readonly<Record<string, string>>

export interface TokenIssuer {
  readonly name: string
  token(claims?: Readonly<Record<string, unknown>>): Promise<string>
}

export interface AccessServer {
  readonly server: Server
  readonly access: AccessControl
  readonly store: Store
  /** All log entries. */
  readonly logged: readonly unknown[]
  readonly one: TokenIssuer
  readonly two: TokenIssuer
  /** Calls of one agent over one version and binding; each call has the credentials. */
  peer(agent: string, way: BindingVersion): RawClient
  /** A request to the admin API, as the admin by default. */
  admin(
    method: string,
    path: string,
    body?: unknown,
    proof?: AuthHeaders,
  ): Promise<{ status: number; headers: Headers; json: any }>
  /** Creates a key and returns the credentials that use it. */
  key(order: object): Promise<AuthHeaders & { readonly authorization: string }>
  get(path: string, proof?: AuthHeaders): Promise<Response>
}

export const adminKey = 'the admin of the office'

export interface AccessServerOptions {
  readonly agents: Readonly<Record<string, AgentSettings>>
  /** Sections of the configuration. */
  readonly access?: object
  readonly limits?: object
  readonly server?: Partial<ServeOptions>
  readonly store?: Store
  readonly now?: () => number
}

export async function openAccessServer(options: AccessServerOptions): Promise<AccessServer> {
  const { agents, store = memoryStore() } = options
  const logged: unknown[] = []
  const note = (message: string, fields?: Record<string, unknown>): void => void logged.push([message, fields])
  const log: EngineLog = { debug: note, info: note, warn: note, error: note }
  const [one, two] = [await openTokenIssuer('https://one.test'), await openTokenIssuer('https://two.test')]
  const config = sectionsSchema.parse({ agents: {}, access: options.access ?? {}, limits: options.limits ?? {} })
  const names = Object.keys(agents)
  const started = Promise.withResolvers<Server>()
  const access = await createAccessControl({
    kv: store.kv,
    settings: accessSettings({ ...config, agents: {} }),
    admin: { key: adminKey },
    log,
    secrets: async () => (await started.promise).handler.secrets,
    fetch: fetchFrom(one, two),
    ...(options.now !== undefined ? { now: options.now } : {}),
  })
  const observer = createObserver({ hasAgent: (name) => names.includes(name), log })
  observer.follow('call', ({ call }) => access.onOutcome(call))
  observer.follow('task', access.onTask)
  const secured = names.map((name) => [name, { ...agents[name], ...access.security(name) }] as const)
  const server = await serve({
    port: 0,
    grpcPort: 0,
    drainMs: 200,
    store,
    log,
    push: { allow: ['127.0.0.1'] },
    agents: Object.fromEntries(secured) as Record<string, AgentSettings>,
    authenticate: access.authenticate,
    admit: access.admit,
    onOutcome: observer.onOutcome,
    onEvent: observer.onEvent,
    onStream: access.onStream,
    middleware: createAdminHandler({
      access,
      log,
      now: options.now ?? Date.now,
      publicUrl: () => undefined,
      hasAgent: (name) => names.includes(name),
      agentNames: () => names,
      readers: async () => (await started.promise).handler.readers,
      hasConsole: () => false,
    }).middleware,
    ...options.server,
  } as ServeOptions)
  started.resolve(server)
  after(async () => {
    await access.close()
    await server.close()
  })
  /** One connection for each, as in programs. */
  const peers = new Map<string, RawClient>()

  const accessServer: AccessServer = {
    server,
    access,
    store,
    logged,
    one,
    two,
    peer(agent, way) {
      const name = `${agent} ${way.binding} ${way.version}`
      const known = peers.get(name) ?? createAgentPeer({ url: server.url, grpcPort: server.grpcPort, agent }, way)
      peers.set(name, known)
      return known
    },
    async admin(method, path, body, proof = { authorization: `Bearer ${adminKey}` }) {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: { ...proof, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) }
    },
    async key(order) {
      const { status, json } = await accessServer.admin('POST', '/admin/keys', { name: 'test', ...order })
      assert.equal(status, 201, JSON.stringify(json))
      return { authorization: `Bearer ${json.key}` }
    },
    get: (path, proof = {}) => fetch(`${server.url}${path}`, { headers: proof }),
  }
  return accessServer
}

interface OpenTokenIssuer extends TokenIssuer {
  readonly documents: ReadonlyMap<string, object>
}

async function openTokenIssuer(name: string): Promise<OpenTokenIssuer> {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'ES256' }] }
  return {
    name,
    documents: new Map<string, object>([
      [`${name}/.well-known/openid-configuration`, { issuer: name, jwks_uri: `${name}/keys` }],
      [`${name}/keys`, keys],
    ]),
    token: (claims = {}) =>
      new SignJWT({ iss: name, aud: 'parley', sub: 'ann', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k' })
        .setExpirationTime('10m')
        .sign(pair.privateKey),
  }
}

function fetchFrom(...issuers: readonly OpenTokenIssuer[]): FetchHandler {
  return async ({ url }) => {
    const document = issuers.flatMap(({ documents }) => documents.get(url) ?? [])[0]
    return document === undefined ? new Response(null, { status: 404 }) : Response.json(document)
  }
}

/** Both issuers, for most tests. */
export const bothIssuers = [
  { issuer: 'https://one.test', audience: 'parley', scopes: { team: ['agent:team'], all: ['agent:*'] } },
  { issuer: 'https://two.test', audience: 'parley', scopes: { team: ['agent:team'] } },
]

export function messageParams(text: string, more: object = {}) {
  return { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text }], ...more } }
}
