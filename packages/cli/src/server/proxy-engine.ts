/**
 * The engine of `server --proxy`: every operation is performed by the upstream agent, so tasks, contexts and errors are the upstream's
 * own. The server translates bindings and versions on both sides.
 */
import { A2AError, isTerminal, type StreamEvent } from '@parley/a2a'
import { hasSettled, type Engine, type StreamItem, type TaskEventStream } from '@parley/a2a/internal'
import type { EventFrame, RemoteAgent } from '@parley/a2a/client'
import type { CallContext } from '@parley/a2a/server'

/** For the option `wrapEngine` of `serve`. */
export function createProxyEngine({ session }: RemoteAgent, own: Engine): Engine {
  const about = ({ signal, extensions }: CallContext) => ({ signal, extensions })
  return {
    ...own,
    get logPageCounts() {
      return own.logPageCounts
    },
    sendMessage: (request, context) => session.call('SendMessage', forUpstream(request), about(context)),
    async streamMessage(request, context) {
      return streamItems(await session.open('SendStreamingMessage', forUpstream(request), about(context)))
    },
    getTask: (request, context) => session.call('GetTask', forUpstream(request), about(context)),
    listTasks: (request, context) => session.call('ListTasks', forUpstream(request), about(context)),
    cancelTask: (request, context) => session.call('CancelTask', forUpstream(request), about(context)),
    async subscribe(request, context, finished) {
      try {
        return streamItems(await session.open('SubscribeToTask', forUpstream(request), about(context)))
      } catch (reason) {
        // 0.x returns a task that has ended once more; 1.0 refuses.
        if (finished !== 'replay' || !(reason instanceof A2AError) || reason.code !== 'UNSUPPORTED_OPERATION')
          throw reason
        const task = await session.call('GetTask', { id: request.id }, about(context))
        if (!isTerminal(task.status.state)) throw reason
        return itemsOf([{ event: { task }, final: true }])
      }
    },
    push: {
      create: (request, context) =>
        session.call('CreateTaskPushNotificationConfig', forUpstream(request), about(context)),
      get: (request, context) => session.call('GetTaskPushNotificationConfig', forUpstream(request), about(context)),
      list: (request, context) => session.call('ListTaskPushNotificationConfigs', forUpstream(request), about(context)),
      delete: (request, context) =>
        session.call('DeleteTaskPushNotificationConfig', forUpstream(request), about(context)),
      // The upstream delivers; nothing is kept here.
      cursors: async () => [],
      search: async () => ({ cursors: [] }),
      attempts: async () => [],
      redeliver: async () => false,
    },
  }
}

/** The tenant of the upstream's interface, which the session adds, is not that of the local server. */
function forUpstream<T extends { readonly tenant?: string }>(request: T): Omit<T, 'tenant'> {
  const { tenant: _local, ...rest } = request
  return rest
}

async function* streamItems(frames: AsyncIterable<EventFrame>): TaskEventStream {
  for await (const { event, final } of frames) yield [{ event, final: final ?? isLast(event) }]
}

async function* itemsOf(items: readonly StreamItem[]): TaskEventStream {
  yield items
}

function isLast(event: StreamEvent): boolean {
  return 'statusUpdate' in event && hasSettled(event.statusUpdate.status.state)
}
