/** A message to an agent of this hub, and what it says while it says it. As the one who is signed in, at its ordinary address. */
import { Problem } from '../../api/problem.ts'
import { csrfToken } from '../../api/session-state.ts'
import { createSseReader } from '../../api/sse-reader.ts'
import type { Event } from './heard.ts'

interface Answer {
  readonly result?: Event
  readonly error?: { readonly message?: string }
}

export async function* say(agent: string, text: string, signal: AbortSignal): AsyncGenerator<Event, void, undefined> {
  const path = `/a2a/${encodeURIComponent(agent)}`
  const request = `POST ${path}`
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
  let answer: Response
  try {
    answer = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-csrf-token': csrfToken() },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } }),
      signal,
    })
  } catch (cause) {
    signal.throwIfAborted()
    throw new Problem('The hub cannot be reached. It may be restarting.', { code: 'UNREACHABLE', request, cause })
  }
  if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true || answer.body === null) {
    yield* eventOf(await answer.text(), request)
    return
  }
  const read = createSseReader()
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    for (const { data } of read(value)) yield* eventOf(data, request)
  }
}

function* eventOf(said: string, request: string): Generator<Event, void, undefined> {
  let answer: Answer
  try {
    answer = JSON.parse(said) as Answer
  } catch {
    throw new Problem('The agent’s answer could not be read.', { code: 'INTERNAL', request })
  }
  if (answer.error !== undefined) {
    throw new Problem(answer.error.message ?? 'The agent refused the message.', { code: 'INTERNAL', request })
  }
  if (answer.result !== undefined) yield answer.result
}
