/** Faults of tasks: sending, canceling, listing. */
import { answer, editError, editRequest, editResult, json, rpcError, rpcResult } from '../wire-edits.ts'
import type { Call, Json } from '../wire-edits.ts'
import type { Next } from '../fault-server.ts'
import type { Fault } from '../fault.ts'

const task = (edit: (task: Json) => Json) => (result: Json) =>
  result.task === undefined ? result : { ...result, task: edit(result.task) }
/** The request without these parameters. */
const ignoring = (operation: string, ...names: readonly string[]) =>
  editRequest(operation, (document) => ({
    ...document,
    params: Object.fromEntries(Object.entries(document.params ?? {}).filter(([name]) => !names.includes(name))),
  }))
const onMessage = (edit: (message: Json) => Json) =>
  editRequest('SendMessage', (document) => ({
    ...document,
    params: { ...document.params, message: edit(document.params?.message ?? {}) },
  }))
const tasks = (edit: (tasks: readonly Json[]) => readonly Json[]) =>
  editResult('ListTasks', (page) => ({ ...page, tasks: edit(page.tasks) }))
const firstOnly = async (_call: Call, request: Request, next: Next): Promise<Response> => next(request)

export const taskFaults: readonly Fault[] = [
  {
    check: 'send.result',
    wrong: 'the result of a send is a bare task',
    intercept: editResult('SendMessage', (result) => result.task ?? result),
  },
  {
    check: 'send.waits',
    wrong: 'a send returns at once',
    intercept: editRequest('SendMessage', (document) => ({
      ...document,
      params: { ...document.params, configuration: { ...document.params?.configuration, returnImmediately: true } },
    })),
  },
  {
    check: 'send.return-immediately',
    wrong: 'a send always waits',
    intercept: editRequest('SendMessage', (document) => ({
      ...document,
      params: { ...document.params, configuration: { ...document.params?.configuration, returnImmediately: false } },
    })),
  },
  {
    check: 'send.unique-task-ids',
    wrong: 'all tasks have one id',
    intercept: editResult(
      'SendMessage',
      task((found) => ({ ...found, id: 'the-task' })),
    ),
  },
  {
    check: 'send.unknown-task',
    wrong: 'a message to an unknown task makes a new one',
    intercept: answer('SendMessage', async (call, request, next) => {
      const response = await next(request.clone())
      const document: Json = await response.json()
      if (document.error?.code !== -32001) return json(document)
      const { taskId: _taskId, ...message } = call.params.message
      const body = JSON.stringify({ jsonrpc: '2.0', id: call.id, method: 'SendMessage', params: { message } })
      return next(new Request(request.url, { method: 'POST', headers: headersOf(request), body }))
    }),
  },
  {
    check: 'send.finished-task',
    wrong: 'a finished task accepts messages',
    intercept: answer('SendMessage', async (call, request, next) => {
      const document: Json = await (await next(request)).json()
      if (document.error?.code !== -32004) return json(document)
      const { taskId, contextId } = call.params.message
      return rpcResult(call, { task: { id: taskId, contextId, status: { state: 'TASK_STATE_WORKING' } } })
    }),
  },
  {
    check: 'send.new-task-in-context',
    wrong: 'every task is in a context of its own',
    intercept: answer('SendMessage', async (_call, request, next) => {
      const document: Json = await (await next(request)).json()
      if (document.result?.task === undefined) return json(document)
      return json({ ...document, result: { task: { ...document.result.task, contextId: crypto.randomUUID() } } })
    }),
  },
  {
    check: 'send.client-context',
    wrong: 'the context of the client is replaced',
    intercept: onMessage(({ contextId, ...message }) =>
      String(contextId).startsWith('conformance-') && message.taskId === undefined
        ? message
        : { contextId, ...message },
    ),
  },
  {
    check: 'send.context-inferred',
    wrong: 'a message to a task makes another task',
    intercept: onMessage(({ taskId: _taskId, ...message }) => message),
  },
  {
    check: 'send.context-mismatch',
    wrong: 'the context of a message is ignored',
    intercept: onMessage(({ contextId, ...message }) =>
      message.taskId === undefined ? { contextId, ...message } : message,
    ),
  },
  {
    check: 'send.same-message-twice',
    wrong: 'a repeated message makes a second task',
    settings: { idempotency: 'off' },
    intercept: answer('', firstOnly),
  },
  {
    check: 'cancel.unknown-task',
    wrong: 'an unknown task can be canceled',
    intercept: answer('CancelTask', async (call, request, next) => {
      const document: Json = await (await next(request)).json()
      if (document.error?.code !== -32001) return json(document)
      return rpcResult(call, { id: call.params.id, status: { state: 'TASK_STATE_CANCELED' } })
    }),
  },
  {
    check: 'cancel.finished-task',
    wrong: 'a finished task is an unknown task for a cancel',
    intercept: editError('CancelTask', (error) =>
      error.code === -32002 ? { code: -32001, message: 'not found', data: [] } : error,
    ),
  },
  {
    check: 'cancel.open-task',
    wrong: 'a cancel returns nothing',
    intercept: editResult('CancelTask', () => ({})),
  },
  {
    check: 'cancel.twice',
    wrong: 'a second cancel is an internal error',
    intercept: (() => {
      const canceled = new Set<string>()
      return answer('CancelTask', (call) => {
        if (canceled.has(call.params?.id)) return rpcError(call, -32603, 'internal error')
        canceled.add(call.params?.id)
        return undefined
      })
    })(),
  },
  {
    check: 'list.fields',
    wrong: 'the last page has no token',
    intercept: editResult('ListTasks', ({ nextPageToken: _token, ...page }) => page),
  },
  {
    check: 'list.context-filter',
    wrong: 'a task of another context is listed',
    intercept: tasks((found) => [
      ...found,
      {
        id: 'foreign',
        contextId: 'another',
        status: { state: 'TASK_STATE_COMPLETED', timestamp: '2020-01-01T00:00:00.000Z' },
      },
    ]),
  },
  { check: 'list.status-filter', wrong: 'the status is ignored', intercept: ignoring('ListTasks', 'status') },
  { check: 'list.time-filter', wrong: 'the time is ignored', intercept: ignoring('ListTasks', 'statusTimestampAfter') },
  { check: 'list.order', wrong: 'the oldest task comes first', intercept: tasks((found) => found.toReversed()) },
  { check: 'list.pages', wrong: 'the page token is ignored', intercept: ignoring('ListTasks', 'pageToken') },
  {
    check: 'list.total-size',
    wrong: 'the total is that of the page',
    intercept: editResult('ListTasks', (page) => ({ ...page, totalSize: page.tasks.length })),
  },
  {
    check: 'list.artifacts-omitted',
    wrong: 'tasks have an empty list of artifacts',
    intercept: tasks((found) => found.map((each) => ({ artifacts: [], ...each }))),
  },
  {
    check: 'list.artifacts-included',
    wrong: 'artifacts are never included',
    intercept: tasks((found) => found.map(({ artifacts: _artifacts, ...each }) => each)),
  },
  {
    check: 'list.history-length',
    wrong: 'the length of the history is ignored',
    intercept: ignoring('ListTasks', 'historyLength'),
  },
  { check: 'list.page-size-range', wrong: 'any page size is accepted', intercept: ignoring('ListTasks', 'pageSize') },
  { check: 'list.invalid-status', wrong: 'an unknown state is no filter', intercept: ignoring('ListTasks', 'status') },
  {
    check: 'list.invalid-history-length',
    wrong: 'a negative length is no limit',
    intercept: ignoring('ListTasks', 'historyLength'),
  },
  {
    check: 'list.invalid-time',
    wrong: 'an invalid time is no filter',
    intercept: ignoring('ListTasks', 'statusTimestampAfter'),
  },
  {
    check: 'list.invalid-token',
    wrong: 'an invalid token is the first page',
    intercept: ignoring('ListTasks', 'pageToken'),
  },
]

function headersOf({ headers }: Request): Headers {
  const copy = new Headers(headers)
  copy.delete('content-length')
  return copy
}
