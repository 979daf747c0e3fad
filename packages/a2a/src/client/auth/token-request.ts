/**
 * Talking to an authorization server: forms go out, JSON comes back, redirects are not followed, and what is said about
 * a failure never holds a secret, also where the server repeats one.
 */
import { A2AError } from '../../model/error.ts'
import { linkSignals } from '../../model/linked-signal.ts'
import type { ClientLimits, Fetch, OAuthOptions } from '../contract.ts'
import { fetchUntil } from '../until.ts'
import { readText } from '../read-text.ts'
import { reveal } from './secret.ts'

export interface TokenParts {
  /** Adds no credentials: whoever asks for a token brings them. */
  readonly fetch: Fetch
  readonly limits: ClientLimits
  /** For tests, which cannot wait for tokens to end. */
  readonly time?: Time
}
export interface Time {
  now(): number
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export type Form = Readonly<Record<string, string | undefined>>
export type Answer = Readonly<Record<string, unknown>>
/** Posts a form as our client. Throws UNAUTHENTICATED with the server's `error` as `details.oauthError`. */
export type TokenClient = (
  url: string,
  form: Form,
  /** The ways to prove who we are that the server takes, as far as it says so. */
  methods: readonly string[] | undefined,
  signal: AbortSignal,
) => Promise<Answer>

/** What authorization servers answer is small; what is larger is something else. So few bytes hold at most 50,000 JSON values. */
const maxAnswerBytes = 100_000

export function createTokenClient({ clientId, clientSecret }: OAuthOptions, parts: TokenParts): TokenClient {
  /** By address: whether the server was found to take the secret in the form or in the header. */
  const learned = new Map<string, boolean>()
  return async (url, form, methods, signal) => {
    const secret = await reveal(clientSecret)
    const own = { ...form, client_id: clientId }
    if (secret === undefined) return post(url, own, undefined, [], parts, signal)
    const say = (inForm: boolean): Promise<Answer> =>
      inForm
        ? post(url, { ...own, client_secret: secret }, undefined, [secret], parts, signal)
        : post(url, form, basicOf(clientId, secret), [secret], parts, signal)

    if (methods !== undefined)
      return say(!methods.includes('client_secret_basic') && methods.includes('client_secret_post'))
    const inForm = learned.get(url) ?? false
    try {
      return await say(inForm)
    } catch (reason) {
      if (oauthErrorOf(reason) !== 'invalid_client') throw reason
    }
    const learn = (): unknown => learned.set(url, !inForm)
    try {
      const answer = await say(!inForm)
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

/** Id and secret are form-encoded before they are joined (RFC 6749 §2.3.1): either may hold a colon. */
function basicOf(clientId: string, secret: string): string {
  const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)
  return `Basic ${btoa(`${encode(clientId)}:${encode(secret)}`)}`
}

async function post(
  url: string,
  form: Form,
  authorization: string | undefined,
  secrets: readonly string[],
  parts: TokenParts,
  signal: AbortSignal,
): Promise<Answer> {
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
  const error = spoken(body?.['error'], hidden)
  // Without an OAuth error it is no answer at all: an error page, a wrong address.
  if (error === undefined) throw unexpected(url, status)
  const description = spoken(body?.['error_description'], hidden)
  const what = `The authorization server at ${new URL(url).origin} refused: ${error}`
  throw new A2AError('UNAUTHENTICATED', description === undefined ? what : `${what} (${description})`, {
    oauthError: error,
  })
}

/** What the server says of itself (RFC 8414, OpenID Connect Discovery). */
export async function readMetadata(url: string, parts: TokenParts, signal: AbortSignal): Promise<Answer> {
  const request = new Request(url, { headers: { accept: 'application/json' }, redirect: 'manual' })
  const { status, body } = await readJson(request, parts, signal)
  if (status !== 200 || body === undefined) throw unexpected(url, status)
  return body
}

async function readJson(
  request: Request,
  { fetch, limits }: TokenParts,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: Answer | undefined }> {
  const { signal: either, end } = linkSignals(
    [signal],
    limits.timeoutMs,
    () => new A2AError('TIMEOUT', `${placeOf(request.url)} took too long`),
  )
  try {
    const response = await fetchUntil(either, fetch, new Request(request, { signal: either }))
    const text = await readText(response, maxAnswerBytes, either)
    return { status: response.status, body: parse(text) }
  } catch (cause) {
    if (either.aborted) throw either.reason
    if (cause instanceof A2AError) throw cause
    throw new A2AError('UNAVAILABLE', `${placeOf(request.url)} could not be reached`, { reason: 'NETWORK' }, { cause })
  } finally {
    end()
  }
}

function parse(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Answer) : undefined
  } catch {
    return undefined
  }
}

function unexpected(url: string, status: number): A2AError {
  const busy = status >= 500 || status === 429
  const how = status === 0 || (status >= 300 && status < 400) ? 'a redirect, which is not followed' : `HTTP ${status}`
  return new A2AError(busy ? 'UNAVAILABLE' : 'UNAUTHENTICATED', `${placeOf(url)} answered ${how}`, {
    status: `${status}`,
  })
}

/** Without the query, which may hold anything. */
function placeOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `The authorization server at ${origin}${pathname}`
}

/** The server's own words, if they are words and repeat no secret. */
function spoken(text: unknown, secrets: readonly string[]): string | undefined {
  if (typeof text !== 'string' || text === '' || secrets.some((secret) => text.includes(secret))) return undefined
  return text.replaceAll(/[^ -~]/g, ' ').slice(0, 200)
}
