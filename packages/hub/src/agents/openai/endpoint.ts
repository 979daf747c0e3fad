/**
 * Requests to an OpenAI-compatible endpoint, one attempt each. Returns the response or throws an A2AError that explains the
 * failure.
 */
import { A2AError } from '@parley/a2a'
import { linkSignals } from '@parley/a2a/internal'
import type { OpenaiEntry } from './entry.ts'
import { readJson } from './response-body.ts'
import { responseError, modelUnreachable } from './model-errors.ts'

export interface ModelEndpoint {
  /** `read` gets the response, and must have consumed it when it ends. */
  post<T>(path: string, said: EndpointRequest, read: ResponseReader<T>): AsyncIterable<T>
  get(path: string, signal: AbortSignal): Promise<unknown>
}

export interface EndpointRequest {
  readonly body: unknown
  readonly signal: AbortSignal
  /** Headers in addition to those of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** `onActivity` must be called for each received chunk. */
export type ResponseReader<T> = (response: Response, onActivity: () => void) => AsyncIterable<T>

type EndpointEntry = Pick<
  OpenaiEntry,
  'apiKey' | 'baseUrl' | 'headers' | 'organization' | 'project' | 'query' | 'answerLimit' | 'idleTimeout'
>

export function createModelEndpoint(
  entry: EndpointEntry,
  fetch: typeof globalThis.fetch,
  jsonNodes?: number,
): ModelEndpoint {
  const headers = headersOf(entry)
  return {
    async *post(path, { body, signal, headers: more }, read) {
      const idleTimeout = createIdleTimeout(entry.idleTimeout, signal)
      try {
        const response = await reach(path, {
          method: 'POST',
          headers: { ...more, ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: idleTimeout.signal,
        })
        idleTimeout.touch()
        if (!response.ok) throw await responseError(response)
        yield* read(response, idleTimeout.touch)
      } catch (reason) {
        throw idleTimeout.errorFor(reason)
      } finally {
        idleTimeout.end()
      }
    },

    async get(path, signal) {
      const idleTimeout = createIdleTimeout(entry.idleTimeout, signal)
      try {
        const response = await reach(path, { headers, signal: idleTimeout.signal })
        if (!response.ok) throw await responseError(response)
        return await readJson(response, { bytes: entry.answerLimit, nodes: jsonNodes }, idleTimeout.touch)
      } catch (reason) {
        throw idleTimeout.errorFor(reason)
      } finally {
        idleTimeout.end()
      }
    },
  }

  async function reach(path: string, init: RequestInit): Promise<Response> {
    const url = new URL(`${entry.baseUrl}${path}`)
    for (const [name, value] of Object.entries(entry.query)) url.searchParams.set(name, value)
    try {
      // A redirect would send the key to another server.
      return await fetch(url.href, { ...init, redirect: 'error' })
    } catch (reason) {
      throw reason instanceof A2AError ? reason : modelUnreachable(reason)
    }
  }
}

function headersOf({ apiKey, headers, organization, project }: EndpointEntry): Record<string, string> {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return {
    ...(apiKey !== undefined ? { authorization: `Bearer ${apiKey}` } : {}),
    ...(organization !== undefined ? { 'openai-organization': organization } : {}),
    ...(project !== undefined ? { 'openai-project': project } : {}),
    ...(Object.fromEntries(lower) as Record<string, string>),
  }
}

interface IdleTimeout {
  /** Aborted by the caller, or by the timeout. */
  readonly signal: AbortSignal
  readonly touch: () => void
  /** Why an exchange failed: the caller aborted, the timeout, or the error itself. */
  errorFor(reason: unknown): Error
  end(): void
}

/** Aborts an exchange if the other side sends nothing for too long. */
function createIdleTimeout(limitMs: number, callerSignal: AbortSignal): IdleTimeout {
  const { signal, abort, end } = linkSignals([callerSignal])
  const timeoutError = new A2AError(
    'TIMEOUT',
    'The model has not answered in time',
    {},
    {
      cause: new Error(`no data received for ${limitMs} ms`),
    },
  )
  const timer = setTimeout(() => abort(timeoutError), limitMs)
  return {
    signal,
    touch: () => void timer.refresh(),
    errorFor(reason) {
      if (callerSignal.aborted) return callerSignal.reason as Error
      return signal.aborted ? timeoutError : (reason as Error)
    },
    end() {
      clearTimeout(timer)
      end()
    },
  }
}
