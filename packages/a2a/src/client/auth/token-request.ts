/**
 * Requests to an authorization server: forms go out, JSON comes back, and redirects are not followed. Error messages
 * never contain a secret, even if the server repeats one.
 */
import { A2AError } from '../../model/error.ts'
import { linkSignals } from '../../model/signals.ts'
import type { ClientLimits, Fetch, OAuthOptions } from '../contract.ts'
import { abortableFetch, resolveSecret } from '../http/http-client.ts'
import { readText } from '../http/read-text.ts'

export interface TokenDeps {
  /** Adds no credentials: the caller provides them. */
  readonly fetch: Fetch
  readonly limits: ClientLimits
  /** For tests, which cannot wait for tokens to expire. */
  readonly time?: OAuthClock
}
export interface OAuthClock {
  now(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export type OAuthForm = Readonly<Record<string, string | undefined>>
export type OAuthResponse = Readonly<Record<string, unknown>>
/** Posts a form as our client. Throws UNAUTHENTICATED with the server's `error` as `details.oauthError`. */
export type OAuthPost = (
  url: string,
  form: OAuthForm,
  /** The client authentication methods that the server declares, if it declares any. */
  methods: readonly string[] | undefined,
  signal: AbortSignal,
) => Promise<OAuthResponse>

/**
 * Responses of authorization servers are small; a larger one is something else. This many bytes hold at most 50,000
 * JSON values.
 */
const maxAnswerBytes = 100_000

export function createOAuthPost({ clientId, clientSecret }: OAuthOptions, parts: TokenDeps): OAuthPost {
  /** By URL: whether the server accepted the secret in the form or in the header. */
  const secretInFormByUrl = new Map<string, boolean>()
  return async (url, form, methods, signal) => {
    const secret = await resolveSecret(clientSecret)
    const own = { ...form, client_id: clientId }
    if (secret === undefined) return post(url, own, undefined, [], parts, signal)
    const postSecret = (inForm: boolean): Promise<OAuthResponse> =>
      inForm
        ? post(url, { ...own, client_secret: secret }, undefined, [secret], parts, signal)
        : post(url, form, basicOf(clientId, secret), [secret], parts, signal)

    if (methods !== undefined)
      return postSecret(!methods.includes('client_secret_basic') && methods.includes('client_secret_post'))
    const inForm = secretInFormByUrl.get(url) ?? false
    try {
      return await postSecret(inForm)
    } catch (reason) {
      if (oauthErrorOf(reason) !== 'invalid_client') throw reason
    }
    const learn = (): unknown => secretInFormByUrl.set(url, !inForm)
    try {
      const answer = await postSecret(!inForm)
      learn()
      return answer
    } catch (reason) {
      if (oauthErrorOf(reason) !== 'invalid_client') learn()
      throw reason
    }
  }
}

export function oauthErrorOf(reason: unknown): string | undefined {
  const said = reason instanceof A2AError ? reason.details['oauthError'] : undefined
  return typeof said === 'string' ? said : undefined
}

/** Id and secret are form-encoded before they are joined (RFC 6749 §2.3.1), because either may contain a colon. */
function basicOf(clientId: string, secret: string): string {
  const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)
  return `Basic ${btoa(`${encode(clientId)}:${encode(secret)}`)}`
}

async function post(
  url: string,
  form: OAuthForm,
  authorization: string | undefined,
  secrets: readonly string[],
  parts: TokenDeps,
  signal: AbortSignal,
): Promise<OAuthResponse> {
  const fields = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined)
  const { status, body } = await readJson(
    new Request(url, {
      method: 'POST',
      headers: { accept: 'application/json', ...(authorization && { authorization }) },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    }),
    parts,
    signal,
  )
  if (status < 300 && body !== undefined && body['error'] === undefined) return body
  const hidden = [...secrets, form['refresh_token'], form['device_code'], authorization].filter(
    (one) => one !== undefined,
  )
  const error = printableText(body?.['error'], hidden)
  // Without an OAuth error it is not a response of an authorization server: an error page, a wrong URL.
  if (error === undefined) throw unexpectedResponseError(url, status)
  const description = printableText(body?.['error_description'], hidden)
  const what = `The authorization server at ${new URL(url).origin} refused: ${error}`
  throw new A2AError('UNAUTHENTICATED', description === undefined ? what : `${what} (${description})`, {
    oauthError: error,
  })
}

/** Reads the server's metadata (RFC 8414, OpenID Connect Discovery). */
export async function readMetadata(url: string, parts: TokenDeps, signal: AbortSignal): Promise<OAuthResponse> {
  const request = new Request(url, { headers: { accept: 'application/json' }, redirect: 'manual' })
  const { status, body } = await readJson(request, parts, signal)
  if (status !== 200 || body === undefined) throw unexpectedResponseError(url, status)
  return body
}

async function readJson(
  request: Request,
  { fetch, limits }: TokenDeps,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: OAuthResponse | undefined }> {
  const { signal: either, end } = linkSignals(
    [signal],
    limits.timeoutMs,
    () => new A2AError('TIMEOUT', `${describeServer(request.url)} timed out`),
  )
  try {
    const response = await abortableFetch(either, fetch, new Request(request, { signal: either }))
    const text = await readText(response, maxAnswerBytes, either)
    return { status: response.status, body: parse(text) }
  } catch (cause) {
    if (either.aborted) throw either.reason
    if (cause instanceof A2AError) throw cause
    throw new A2AError(
      'UNAVAILABLE',
      `${describeServer(request.url)} could not be reached`,
      { reason: 'NETWORK' },
      { cause },
    )
  } finally {
    end()
  }
}

function parse(text: string): OAuthResponse | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as OAuthResponse) : undefined
  } catch {
    return undefined
  }
}

function unexpectedResponseError(url: string, status: number): A2AError {
  const busy = status >= 500 || status === 429
  const how = status === 0 || (status >= 300 && status < 400) ? 'a redirect, which is not followed' : `HTTP ${status}`
  return new A2AError(busy ? 'UNAVAILABLE' : 'UNAUTHENTICATED', `${describeServer(url)} answered ${how}`, {
    status: `${status}`,
  })
}

/** The URL without its query, which may contain secrets. */
function describeServer(url: string): string {
  const { origin, pathname } = new URL(url)
  return `The authorization server at ${origin}${pathname}`
}

/** The server's message, if it is printable text and repeats no secret. */
function printableText(text: unknown, secrets: readonly string[]): string | undefined {
  if (typeof text !== 'string' || text === '' || secrets.some((secret) => text.includes(secret))) return undefined
  return text.replaceAll(/[^ -~]/g, ' ').slice(0, 200)
}
