/** Requests to an OpenAI-compatible endpoint, one try each: what it answers, or an A2AError that says what is wrong. */
import { A2AError } from '@parley/a2a'
import type { OpenaiEntry } from './entry.ts'
import { readJson } from './answer-body.ts'
import { refusalOf, unreachable } from './failure.ts'
import { watchSilence } from './silence.ts'

export interface Endpoint {
  /** `read` is given the answer, and must be done with it when it resolves or ends. */
  post<T>(path: string, said: Said, read: Reader<T>): AsyncIterable<T>
  get(path: string, signal: AbortSignal): Promise<unknown>
}

export interface Said {
  readonly body: unknown
  readonly signal: AbortSignal
  /** Beside those of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** `heard` is called whenever something comes. */
export type Reader<T> = (response: Response, heard: () => void) => AsyncIterable<T>

type EndpointEntry = Pick<
  OpenaiEntry,
  'apiKey' | 'baseUrl' | 'headers' | 'organization' | 'project' | 'query' | 'answerLimit' | 'idleTimeout'
>

export function createEndpoint(entry: EndpointEntry, fetch: typeof globalThis.fetch, jsonNodes?: number): Endpoint {
  const headers = headersOf(entry)
  return {
    async *post(path, { body, signal, headers: more }, read) {
      const silence = watchSilence(entry.idleTimeout, signal)
      try {
        const response = await reach(path, {
          method: 'POST',
          headers: { ...more, ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: silence.signal,
        })
        silence.heard()
        if (!response.ok) throw await refusalOf(response)
        yield* read(response, silence.heard)
      } catch (reason) {
        throw silence.reasonFor(reason)
      } finally {
        silence.end()
      }
    },

    async get(path, signal) {
      const silence = watchSilence(entry.idleTimeout, signal)
      try {
        const response = await reach(path, { headers, signal: silence.signal })
        if (!response.ok) throw await refusalOf(response)
        return await readJson(response, { bytes: entry.answerLimit, nodes: jsonNodes }, silence.heard)
      } catch (reason) {
        throw silence.reasonFor(reason)
      } finally {
        silence.end()
      }
    },
  }

  async function reach(path: string, init: RequestInit): Promise<Response> {
    const url = new URL(`${entry.baseUrl}${path}`)
    for (const [name, value] of Object.entries(entry.query)) url.searchParams.set(name, value)
    try {
      // A redirect would take the key elsewhere.
      return await fetch(url.href, { ...init, redirect: 'error' })
    } catch (reason) {
      throw reason instanceof A2AError ? reason : unreachable(reason)
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
