/** Fetches a JSON document with a size limit. */
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'

export interface JsonResponse {
  readonly status: number
  /** Undefined if the body is not JSON. */
  readonly body: unknown
}

const limitBytes = 2_000_000

export async function getJson(
  fetch: typeof globalThis.fetch,
  url: string,
  { signal, token }: { readonly signal: AbortSignal; readonly token?: string | undefined },
): Promise<JsonResponse> {
  const headers = { accept: 'application/json', ...(token !== undefined ? { authorization: `Bearer ${token}` } : {}) }
  // A redirect would send the token to another server.
  const response = await fetch(url, { headers, signal, redirect: token === undefined ? 'follow' : 'error' })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > limitBytes) throw new Error(`its response exceeds ${limitBytes} bytes`)
    chunks.push(chunk)
  }
  return { status: response.status, body: tryParseJson(Buffer.concat(chunks).toString('utf8')) }
}

function tryParseJson(text: string): unknown {
  try {
    return exceedsJsonNodes(text, defaultJsonNodes) ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}
