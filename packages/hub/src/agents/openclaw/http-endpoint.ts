/** Requests to the HTTP endpoint of a gateway, and its errors as the caller may see them. */
import { A2AError } from '@parley/a2a'
import type { OpenClawEntry } from './entry.ts'

/** Checks that the endpoint accepts this hub. Calls no model. */
export async function checkHttpEndpoint(
  entry: OpenClawEntry,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<void> {
  const response = await requestGateway(fetch, `${httpBase(entry.url)}/v1/models`, {
    headers: gatewayAuthorization(entry),
    signal,
  })
  await response.body?.cancel().catch(() => {})
}

export function httpBase(url: string): string {
  return url.replace(/^ws/i, 'http')
}

export function gatewayAuthorization({ token, password }: OpenClawEntry): Record<string, string> {
  const secret = token ?? password
  return secret === undefined ? {} : { authorization: `Bearer ${secret}` }
}

export async function requestGateway(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
): Promise<Response> {
  let response: Response
  try {
    // A redirect would send the token to another server.
    response = await fetch(url, { ...init, redirect: 'error' })
  } catch (cause) {
    if (init.signal?.aborted === true) throw init.signal.reason
    throw gatewayUnavailableError('The OpenClaw gateway is unavailable now', cause)
  }
  if (response.ok) return response
  throw httpError(response.status, await response.text().catch(() => ''), response.headers.get('retry-after'))
}

function httpError(status: number, body: string, retryAfter: string | null): A2AError {
  const cause = new Error(`the gateway returned ${status}: ${body.slice(0, 2_000)}`)
  if (status === 401 || status === 403) {
    return gatewayUnavailableError(
      'The OpenClaw gateway rejected the configured credentials: check them in the configuration',
      cause,
    )
  }
  if (status === 404) {
    return gatewayUnavailableError(
      'The HTTP endpoint of the OpenClaw gateway is disabled: set gateway.http.endpoints.chatCompletions.enabled there',
      cause,
    )
  }
  if (status === 413)
    return new A2AError('PAYLOAD_TOO_LARGE', 'The message is too large for the OpenClaw gateway', {}, { cause })
  if (status === 429 || status === 503) {
    const waitMs = Number(retryAfter) * 1_000
    const details = Number.isFinite(waitMs) && waitMs > 0 ? { retryAfterMs: String(waitMs) } : {}
    return new A2AError('AGENT_UNAVAILABLE', 'The OpenClaw gateway accepts no messages now: try again later', details, {
      cause,
    })
  }
  return gatewayUnavailableError(
    status < 500 ? 'The agent could not answer this message' : 'The OpenClaw gateway failed',
    cause,
  )
}

export function gatewayUnavailableError(said: string, cause: unknown): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', said, {}, { cause })
}
