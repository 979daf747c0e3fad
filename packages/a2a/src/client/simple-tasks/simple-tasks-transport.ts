/**
 * Peers from before the protocol had interfaces: a task is posted to `/a2a/tasks/send` and polled at `/a2a/tasks/{id}` until it
 * is `completed` or `failed` (S0-4, S0-5). A transport like any other: polling, retries and timeouts are in the layers above.
 * Loaded when a card shows such a peer.
 */
import { A2AError, type ErrorCode } from '../../model/error.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
import type { Task } from '../../model/task.ts'
import { readFlatTask, writeTaskSend } from '../../versions/simple-tasks-client.ts'
import type { ClientTransport, TransportCallOptions, ClientTransportDeps } from '../contract.ts'
import { parseResponse } from '../http/check-json-nodes.ts'
import { readText } from '../http/read-text.ts'
import { notJsonError, withResponseDetails } from '../http/response-errors.ts'

export function createSimpleTasksTransport(
  url: string,
  parts: ClientTransportDeps,
  timeoutMs: number | undefined,
): ClientTransport {
  const base = url.replace(/[?#].*/, '').replace(/\/+$/, '')

  return {
    call,

    /** Simple tasks have no streams. If a card declares them anyway, the task is sent once and polled from then on. */
    async open(operation, request, about) {
      if (operation !== 'SendStreamingMessage') throw unsupportedError(operation)
      const task = await send(request as RequestOf<'SendMessage'>, about)
      return (async function* () {
        yield { event: { task }, id: undefined, final: undefined }
      })()
    },
  }

  async function call(operation: Operation, request: RequestOf<Operation>, about: TransportCallOptions) {
    if (operation === 'GetTask') return get(request as RequestOf<'GetTask'>, about)
    if (operation === 'SendMessage') return { task: await send(request as RequestOf<'SendMessage'>, about) }
    throw unsupportedError(operation)
  }

  function send(request: RequestOf<'SendMessage'>, about: TransportCallOptions): Promise<Task> {
    return ask('POST', '/a2a/tasks/send', about, JSON.stringify(writeTaskSend(request, timeoutMs)))
  }

  async function get({ id, historyLength }: RequestOf<'GetTask'>, about: TransportCallOptions): Promise<Task> {
    const { history = [], ...task } = await ask('GET', `/a2a/tasks/${encodeURIComponent(id)}`, about)
    const kept = historyLength === undefined ? history : history.slice(Math.max(0, history.length - historyLength))
    return kept.length > 0 ? { ...task, history: kept } : task
  }

  async function ask(method: string, path: string, about: TransportCallOptions, body?: string): Promise<Task> {
    const { signal, headers, card } = about
    const response = await parts.http.send({
      method,
      url: base + path,
      headers: {
        accept: 'application/json',
        ...(body !== undefined ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body !== undefined ? { body } : {}),
      signal,
      timeoutMs: about.timeoutMs,
      ...(card !== undefined ? { card } : {}),
    })
    const { status } = response
    const answer = await readText(response, parts.maxBodyBytes, signal, about.timeoutMs)
    if (!response.ok) {
      const error = withResponseDetails(new A2AError(codeOf(status, method), `HTTP ${status}`), answer, response)
      // A submission has no id: the peer could not recognize a repeat, and no status of it says for certain that it did nothing.
      throw method === 'POST' ? Object.defineProperty(error, 'retryable', { value: false }) : error
    }
    const payload = parseResponse(answer, parts.maxJsonNodes)
    if (payload === undefined) throw notJsonError(answer, status)
    return readFlatTask(payload)
  }
}

const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'INVALID_PARAMS',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  413: 'PAYLOAD_TOO_LARGE',
  422: 'INVALID_PARAMS',
  429: 'RATE_LIMITED',
}

function codeOf(status: number, method: string): ErrorCode {
  if (method === 'GET' && (status === 404 || status === 410)) return 'TASK_NOT_FOUND'
  return codesByStatus[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_AGENT_RESPONSE')
}

function unsupportedError(operation: Operation): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', `The agent serves simple tasks only, without ${operation}`)
}
