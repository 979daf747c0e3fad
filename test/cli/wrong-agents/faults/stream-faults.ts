/** Faults of streams and subscriptions. */
import { answer, editEvents, editFrames, json, rpcError, rpcResult } from '../wire-edits.ts'
import type { Json } from '../wire-edits.ts'
import type { Fault } from '../fault.ts'

const send = 'SendStreamingMessage'
const subscribe = 'SubscribeToTask'

const each = (operation: string, edit: (event: Json, index: number) => Json) =>
  editEvents(operation, async function* (events) {
    let index = 0
    for await (const event of events) yield edit(event, index++)
  })
const leavingOut = (operation: string, isLeftOut: (event: Json, index: number) => boolean) =>
  editEvents(operation, async function* (events) {
    let index = 0
    for await (const event of events) if (!isLeftOut(event, index++)) yield event
  })
const stateOf = (event: Json): string => event.statusUpdate?.status.state ?? event.task?.status.state ?? ''
const isEnd = (event: Json): boolean => /COMPLETED|FAILED|CANCELED|REJECTED/.test(stateOf(event))
const stall = (): Promise<never> => new Promise(() => {})
const update = (event: Json, edit: (status: Json) => Json): Json =>
  event.statusUpdate === undefined ? event : { statusUpdate: edit(event.statusUpdate) }

export const streamFaults: readonly Fault[] = [
  {
    check: 'streaming.opens',
    wrong: 'a streamed message is answered with one JSON document',
    intercept: answer(send, (call) =>
      rpcResult(call, { task: { id: 'x', status: { state: 'TASK_STATE_COMPLETED' } } }),
    ),
  },
  {
    check: 'streaming.frames',
    wrong: 'an event has half a document',
    intercept: editFrames(send, async function* (documents) {
      for await (const document of documents) {
        const text = JSON.stringify(document)
        yield document.result.artifactUpdate === undefined
          ? `data: ${text}\n\n`
          : `data: ${text.slice(0, 20)}\n\ndata: ${text.slice(20)}\n\n`
      }
    }),
  },
  {
    check: 'streaming.envelope',
    wrong: 'events have ids of their own',
    intercept: editFrames(send, async function* (documents) {
      let id = 100
      for await (const document of documents) yield `data: ${JSON.stringify({ ...document, id: id++ })}\n\n`
    }),
  },
  {
    check: 'streaming.first-event',
    wrong: 'the stream begins with a status update',
    intercept: leavingOut(send, (_event, index) => index === 0),
  },
  {
    check: 'streaming.pattern',
    wrong: 'a message follows the task',
    intercept: editEvents(send, async function* (events) {
      for await (const event of events) {
        yield event
        if (event.task !== undefined) yield { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }] } }
      }
    }),
  },
  {
    check: 'streaming.events',
    wrong: 'status updates name no context',
    intercept: each(send, (event) => update(event, ({ contextId: _contextId, ...status }) => status)),
  },
  {
    check: 'streaming.ids',
    wrong: 'a status update names another task',
    intercept: each(send, (event) => update(event, (status) => ({ ...status, taskId: 'another' }))),
  },
  {
    check: 'streaming.ends',
    wrong: 'the stream stays open after the end of the task',
    intercept: editEvents(send, async function* (events) {
      for await (const event of events) yield event
      await stall()
    }),
  },
  {
    check: 'streaming.not-before-the-end',
    wrong: 'the stream closes while the task works',
    intercept: leavingOut(send, isEnd),
  },
  {
    check: 'streaming.order',
    wrong: 'an artifact follows the end of the task',
    intercept: editEvents(send, async function* (events) {
      const held: Json[] = []
      for await (const event of events) {
        if (event.artifactUpdate === undefined) yield event
        else held.push(event)
      }
      yield* held
    }),
  },
  {
    check: 'streaming.nothing-lost',
    wrong: 'artifacts are not streamed',
    intercept: leavingOut(send, (event) => event.artifactUpdate !== undefined),
  },
  {
    check: 'streaming.final',
    wrong: 'no status of 0.3 is final',
    version: '0.3',
    intercept: each(send, (event) => (event.kind === 'status-update' ? { ...event, final: false } : event)),
  },
  {
    check: 'streaming.proxy-headers',
    wrong: 'caches may store the stream',
    intercept: answer(send, async (_call, request, next) => {
      const response = await next(request)
      return new Response(response.body, { headers: { 'content-type': 'text/event-stream' } })
    }),
  },
  {
    check: 'streaming.unknown-task',
    wrong: 'a streamed message to an unknown task has invalid parameters',
    intercept: answer(send, (call) =>
      String(call.params?.message?.taskId).startsWith('conformance') ? rpcError(call, -32602) : undefined,
    ),
  },
  {
    check: 'streaming.finished-task',
    wrong: 'a streamed message to a finished task is an internal error',
    intercept: answer(send, async (call, request, next) => {
      if (call.params?.message?.taskId === undefined) return undefined
      const document: Json = await (await next(request)).json()
      return document.error?.code === -32004 ? rpcError(call, -32603) : json(document)
    }),
  },
  {
    check: 'streaming.plain-refusal',
    wrong: 'a refusal is an event',
    intercept: answer(send, async (_call, request, next) => {
      const response = await next(request)
      if (response.headers.get('content-type')?.includes('event-stream') === true) return response
      return new Response(`data: ${await response.text()}\n\n`, { headers: { 'content-type': 'text/event-stream' } })
    }),
  },
  {
    check: 'streaming.return-immediately',
    wrong: 'returnImmediately ends the stream',
    intercept: editEvents(send, async function* (events, call) {
      for await (const event of events) {
        yield event
        if (call.params?.configuration?.returnImmediately === true) return
      }
    }),
  },
  {
    check: 'streaming.history-length',
    wrong: 'the task of a stream has its whole history',
    intercept: each(send, (event) =>
      event.task === undefined
        ? event
        : { task: { ...event.task, history: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }] } },
    ),
  },
  {
    check: 'streaming.several',
    wrong: 'the second stream gets other events',
    intercept: each(subscribe, (event) =>
      event.artifactUpdate === undefined
        ? event
        : { artifactUpdate: { ...event.artifactUpdate, artifact: { artifactId: 'other', parts: [{ text: 'x' }] } } },
    ),
  },
  {
    check: 'streaming.close-is-harmless',
    wrong: 'a client that leaves cancels the task',
    intercept: answer(send, async (call, request, next) => {
      const response = await next(request)
      if (response.body === null || !JSON.stringify(call.params).includes('slow')) return response
      const [shown, read] = response.body.tee()
      const first = await read.getReader().read()
      const id = /"id":"([^"]+)","contextId"/.exec(new TextDecoder().decode(first.value))?.[1]
      const cancel = { jsonrpc: '2.0', id: 1, method: 'CancelTask', params: { id } }
      request.signal.addEventListener('abort', () => {
        const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', host: new URL(request.url).host }
        void next(new Request(request.url, { method: 'POST', headers, body: JSON.stringify(cancel) }))
      })
      return new Response(shown, { headers: response.headers })
    }),
  },
  {
    check: 'streaming.input-required',
    wrong: 'the stream stays open while the task waits for input',
    intercept: editEvents(send, async function* (events) {
      let last: Json
      for await (const event of events) yield (last = event)
      if (stateOf(last).includes('INPUT')) await stall()
    }),
  },
  {
    check: 'streaming.auth-required',
    wrong: 'the stream closes while the task waits for a credential',
    intercept: editEvents(send, async function* (events) {
      for await (const event of events) {
        yield event
        if (stateOf(event).includes('AUTH')) return
      }
    }),
  },
  {
    check: 'subscribe.unknown-task',
    wrong: 'a subscription to an unknown task is unsupported',
    intercept: answer(subscribe, (call) =>
      String(call.params?.id).startsWith('conformance') ? rpcError(call, -32004) : undefined,
    ),
  },
  {
    check: 'subscribe.finished-task',
    wrong: 'a finished task can be subscribed to',
    intercept: answer(subscribe, async (call, request, next) => {
      const response = await next(request)
      if (response.headers.get('content-type')?.includes('event-stream') === true) return response
      const document: Json = await response.json()
      if (document.error?.code !== -32004) return json(document)
      const task = { id: call.params.id, contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } }
      const text = `data: ${JSON.stringify({ jsonrpc: '2.0', id: call.id, result: { task } })}\n\n`
      return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
    }),
  },
  {
    check: 'subscribe.finished-task-0.x',
    wrong: 'a finished task of 0.3 is refused',
    version: '0.3',
    intercept: answer(subscribe, (call) => rpcError(call, -32004)),
  },
  {
    check: 'subscribe.first-event',
    wrong: 'a subscription begins with a status update',
    intercept: each(subscribe, (event) =>
      event.task === undefined
        ? event
        : { statusUpdate: { taskId: event.task.id, contextId: event.task.contextId, status: event.task.status } },
    ),
  },
  {
    check: 'subscribe.opens',
    wrong: 'a task that waits for input cannot be subscribed to',
    intercept: answer(subscribe, (call) =>
      String(call.params?.id).startsWith('conformance') ? undefined : rpcError(call, -32004),
    ),
  },
  {
    check: 'subscribe.ends',
    wrong: 'a subscription does not bring the end of the task',
    intercept: editEvents(subscribe, async function* (events) {
      for await (const event of events) if (!isEnd(event)) yield event
      await stall()
    }),
  },
  {
    check: 'subscribe.nothing-lost',
    wrong: 'a subscription loses every second chunk',
    intercept: leavingOut(subscribe, (event, index) => event.artifactUpdate !== undefined && index % 2 === 0),
  },
  {
    check: 'subscribe.verbs',
    wrong: 'a subscription over REST needs POST',
    binding: 'HTTP+JSON',
    intercept: async (request, next) =>
      request.method === 'GET' && request.url.endsWith(':subscribe')
        ? new Response('', { status: 405 })
        : next(request),
  },
]
