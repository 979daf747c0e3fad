/** Sends a message to an agent of this hub with the current session, over the public endpoint, and streams the answer. */
import { Problem } from '../../api/problem.ts'
import { csrfToken } from '../../api/session-state.ts'
import { createSseReader } from '../../api/sse-reader.ts'
import type { StreamPayload } from './stream-text.ts'

interface JsonRpcResponse {
  readonly result?: StreamPayload
  readonly error?: { readonly message?: string }
}

export async function* streamMessage(
  agent: string,
  text: string,
  signal: AbortSignal,
): AsyncGenerator<StreamPayload, void, undefined> {
  const path = `/a2a/${encodeURIComponent(agent)}`
  const request = `POST ${path}`
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  let response: Response
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-csrf-token': csrfToken() },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } }),
      signal,
    })
  } catch (cause) {
    signal.throwIfAborted()
    throw new Problem('The hub cannot be reached. It may be restarting.', { code: 'UNREACHABLE', request, cause })
  }
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true || response.body === null) {
    yield* eventOf(await response.text(), request)
    return
  }
  const read = createSseReader()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    for (const { data } of read(value)) yield* eventOf(data, request)
  }
}

function* eventOf(responseText: string, request: string): Generator<StreamPayload, void, undefined> {
  let response: JsonRpcResponse
  try {
    response = JSON.parse(responseText) as JsonRpcResponse
  } catch {
    throw new Problem('The agent’s answer could not be read.', { code: 'INTERNAL', request })
  }
  if (response.error !== undefined) {
    throw new Problem(response.error.message ?? 'The agent refused the message.', { code: 'INTERNAL', request })
  }
  if (response.result !== undefined) yield response.result
}
