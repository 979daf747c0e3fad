/** Sends a message to an agent of this hub with the current session: A2A 1.0 over JSON-RPC. */
import type { Message } from '@parley/a2a'
import { unreachableProblem } from './problem.ts'
import { csrfToken, markSignedOut } from './session-state.ts'

export interface SendMessageCall {
  readonly agent: string
  readonly method: 'SendMessage' | 'SendStreamingMessage'
  readonly message: Pick<Message, 'parts' | 'metadata' | 'extensions'>
  readonly configuration?: object
  readonly signal?: AbortSignal
}

/** The response, whatever its status, and the request as text for errors. */
export async function sendMessage(call: SendMessageCall): Promise<{ response: Response; request: string }> {
  const { agent, method, message, configuration, signal } = call
  const path = `/a2a/${encodeURIComponent(agent)}`
  const request = `POST ${path}`
  const { parts, metadata, extensions } = message
  const sent = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts, metadata, extensions }
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-csrf-token': csrfToken() },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message: sent, configuration } }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (response.status === 401) markSignedOut()
    return { response, request }
  } catch (cause) {
    signal?.throwIfAborted()
    throw unreachableProblem(request, cause)
  }
}
