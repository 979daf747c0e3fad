/** Sends a message to an agent and reads its streamed answer: the text, the task and the state. */
import type { Artifact, Message, StreamEvent, TaskStatus } from '@parley/a2a'
import { Problem } from '../../api/problem.ts'
import { sendMessage } from '../../api/send-message.ts'
import { createSseReader } from '../../api/sse-reader.ts'

interface JsonRpcResponse {
  readonly result?: StreamEvent
  readonly error?: { readonly message?: string }
}

export async function* streamMessage(
  agent: string,
  text: string,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, void, undefined> {
  const message = { parts: [{ text }] }
  const { response, request } = await sendMessage({ agent, method: 'SendStreamingMessage', message, signal })
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

function* eventOf(responseText: string, request: string): Generator<StreamEvent, void, undefined> {
  let response: JsonRpcResponse
  try {
    response = JSON.parse(responseText) as JsonRpcResponse
  } catch {
    throw new Problem('The response of the agent could not be read.', { code: 'INTERNAL', request })
  }
  if (response.error !== undefined) {
    throw new Problem(response.error.message ?? 'The agent refused the message.', { code: 'INTERNAL', request })
  }
  if (response.result !== undefined) yield response.result
}

export interface StreamText {
  readonly taskId: string | undefined
  readonly state: string | undefined
  readonly text: string
}

export const emptyStreamText: StreamText = { taskId: undefined, state: undefined, text: '' }

export function appendStreamEvent(before: StreamText, event: StreamEvent): StreamText {
  if ('message' in event) return { ...before, text: before.text + textIn(event.message) }
  if ('artifactUpdate' in event) {
    const { taskId, artifact } = event.artifactUpdate
    return { ...before, taskId, text: before.text + textIn(artifact) }
  }
  const { status } = 'task' in event ? event.task : event.statusUpdate
  const artifacts = 'task' in event ? (event.task.artifacts ?? []) : []
  return {
    taskId: 'task' in event ? event.task.id : event.statusUpdate.taskId,
    state: status.state,
    text: before.text + artifacts.map(textIn).join('') + answerIn(status),
  }
}

/** A working status message is transient; one of a question or a failure is the answer. */
function answerIn({ state, message }: TaskStatus): string {
  return /_(SUBMITTED|WORKING)$/.test(state) || message === undefined ? '' : textIn(message)
}

function textIn({ parts }: Message | Artifact): string {
  // Agents may send anything as a text.
  return parts.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('')
}
