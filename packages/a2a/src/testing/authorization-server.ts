/**
 * A small authorization server on a real socket: client credentials, device code, refresh tokens that are good for one
 * use, metadata. It remembers what it was sent and lets a test say what comes next.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export interface AuthorizationServerOptions {
  readonly clientId?: string
  /** None: a public client. */
  readonly clientSecret?: string
  /** How the secret may come; others are refused as invalid_client. */
  readonly methods?: readonly ('client_secret_basic' | 'client_secret_post')[]
  /** Whether the metadata says so. */
  readonly tellsMethods?: boolean
  /** Of access tokens. None: it does not say. */
  readonly lifetimeSeconds?: number
  readonly refreshTokens?: boolean
  readonly interval?: number
  readonly codeLifetimeSeconds?: number
  /** Laid over the metadata. */
  readonly metadata?: object
}
export interface Asked {
  readonly path: string
  readonly method: string
  readonly form: Readonly<Record<string, string>>
  readonly authorization: string | undefined
}
interface Reply {
  readonly status: number
  readonly json?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly text?: string
  /** Nothing at all: the connection is cut. */
  readonly cut?: boolean
}

export async function startAuthorizationServer(options: AuthorizationServerOptions = {}) {
  const { clientId = 'me', clientSecret, methods = ['client_secret_basic', 'client_secret_post'] } = options
  const asked: Asked[] = []
  /** Given instead of its own answers, the first first, to token requests. */
  const next: (Reply | Promise<Reply>)[] = []
  const valid = new Set<string>()
  const refreshable = new Set<string>()
  let count = 0
  let url = ''

  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  after(close)

  return {
    url,
    tokenUrl: `${url}/token`,
    deviceAuthorizationUrl: `${url}/device`,
    metadataUrl: `${url}/.well-known/oauth-authorization-server`,
    asked,
    next,
    /** The grants asked for, in order. */
    grants: (): (string | undefined)[] =>
      asked.filter(({ path }) => path === '/token').map(({ form }) => form['grant_type']?.split(':').at(-1)),
    accepts: (token: string | undefined): boolean => token !== undefined && valid.has(token),
    /** Tokens given so far are no good any more. */
    revoke: (): void => valid.clear(),
    revokeRefreshTokens: (): void => refreshable.clear(),
    close,
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { pathname } = new URL(request.url ?? '/', url)
    const form = Object.fromEntries(new URLSearchParams(body))
    const one = { path: pathname, method: request.method ?? '', form, authorization: request.headers.authorization }
    asked.push(one)
    const { status, json, text, headers, cut } = await replyTo(one)
    if (cut === true) return void request.socket.destroy()
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(text ?? JSON.stringify(json ?? {}))
  }

  async function replyTo(one: Asked): Promise<Reply> {
    if (one.path.startsWith('/.well-known/')) return { status: 200, json: metadata() }
    if (one.method !== 'POST') return { status: 405 }
    if (one.path === '/token' && next.length > 0) return (await next.shift()) ?? { status: 500 }
    if (!isOurs(one)) return { status: 401, json: { error: 'invalid_client' } }
    if (one.path === '/device') return { status: 200, json: code() }
    return one.path === '/token' ? grant(one.form) : { status: 404, text: '<html>' }
  }

  function isOurs({ form, authorization }: Asked): boolean {
    if (clientSecret === undefined) return form['client_id'] === clientId
    const [id = '', secret = ''] = Buffer.from(authorization?.slice('Basic '.length) ?? '', 'base64')
      .toString()
      .split(':')
      .map((word) => decodeURIComponent(word.replaceAll('+', ' ')))
    const inHeader = id === clientId && secret === clientSecret
    const inForm = form['client_id'] === clientId && form['client_secret'] === clientSecret
    return (inHeader && methods.includes('client_secret_basic')) || (inForm && methods.includes('client_secret_post'))
  }

  function grant(form: Asked['form']): Reply {
    const refresh = form['refresh_token']
    if (form['grant_type'] === 'refresh_token' && (refresh === undefined || !refreshable.delete(refresh)))
      return { status: 400, json: { error: 'invalid_grant', error_description: `${refresh} was used before` } }
    count += 1
    valid.add(`access-${count}`)
    if (options.refreshTokens === true) refreshable.add(`refresh-${count}`)
    return {
      status: 200,
      json: {
        access_token: `access-${count}`,
        token_type: 'Bearer',
        expires_in: options.lifetimeSeconds,
        refresh_token: options.refreshTokens === true ? `refresh-${count}` : undefined,
      },
    }
  }

  function code(): object {
    return {
      device_code: 'device-secret',
      user_code: 'ABCD-EFGH',
      verification_uri: `${url}/activate`,
      verification_uri_complete: `${url}/activate?code=ABCD-EFGH`,
      expires_in: options.codeLifetimeSeconds ?? 600,
      interval: options.interval,
    }
  }

  function metadata(): object {
    return {
      issuer: url,
      token_endpoint: `${url}/token`,
      device_authorization_endpoint: `${url}/device`,
      ...(options.tellsMethods === true && { token_endpoint_auth_methods_supported: methods }),
      ...options.metadata,
    }
  }
}
