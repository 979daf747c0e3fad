/** One of the hub's own agents in an agent directory: its turns are read from the log, as every stream is. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Message, Task } from '@parley/a2a'
import {
  abortable,
  hasSettled,
  taskIdOfEvent,
  type HandlerCall,
  type ResponsePart,
  type StreamItem,
  type TaskEventStream,
} from '@parley/a2a/internal'
import type { AuthenticatedCall } from '@parley/a2a/server'
import type { AgentProfile, DirectoryAgent, AgentAnswer, AgentCallOptions } from './agent-directory.ts'

/** Polling interval for an agent that does not stream. */
const pollMs = 200

export interface LocalAgentDeps {
  readonly agent: string
  readonly profile: AgentProfile
  /** Whether the agent streams. */
  readonly streams: boolean
  readonly handlerCall: HandlerCall
  /** The request of the MCP client. */
  readonly call: AuthenticatedCall
  /** Of the response to the MCP client: of several reads, it has the last. */
  readonly memory: ResponsePart
}

export function createLocalAgent(deps: LocalAgentDeps): DirectoryAgent {
  const { agent, profile, streams, handlerCall, call: request, memory } = deps
  // Without a signal: work that has started continues when the client disconnects, so that its id is known and it can be canceled.
  const call: HandlerCall = (operation, message, options) =>
    handlerCall(operation, message, { agent, request, memory, ...options })
  return {
    profile,
    ref: { agent },
    send: streams ? sendStreaming : sendAndPoll,
    start: startTask,
    follow: streams ? followStream : followByPolling,
    get: (id, historyLength) => call('GetTask', { id, historyLength }),
    cancel: (id) => call('CancelTask', { id }),
  }

  /** A part of a call that was admitted already. `counted`: the memory of the response, if that will contain the task. */
  function readTask(id: string, counted?: ResponsePart): Promise<Task> {
    const options = { agent, partOf: request, memory: counted }
    return handlerCall('GetTask', { id, historyLength: 0 }, options)
  }

  async function startTask(message: Message, { onEvent, traceparent }: AgentCallOptions): Promise<AgentAnswer> {
    const request = { message, configuration: { returnImmediately: true } }
    const sent = await call('SendMessage', request, { traceparent })
    onEvent(sent)
    return sent
  }

  async function sendStreaming(message: Message, options: AgentCallOptions): Promise<AgentAnswer> {
    const { traceparent } = options
    const stream = await call('SendStreamingMessage', { message }, { traceparent })
    const last = await readUntilSettled(stream, options, ({ final }) => final)
    if (last !== undefined && 'message' in last.event) return { message: last.event.message }
    const id = last === undefined ? undefined : taskIdOfEvent(last.event)
    return { task: await readTask(id ?? message.taskId ?? '', memory) }
  }

  async function sendAndPoll(message: Message, options: AgentCallOptions): Promise<AgentAnswer> {
    if (message.taskId === undefined) {
      const sent = await startTask(message, options)
      return 'message' in sent ? sent : { task: await pollTask(sent.task, options) }
    }
    // Until the message is processed the task looks as if it still waited: only the engine knows when the turn has ended.
    const { signal, traceparent } = options
    return abortable(signal, call('SendMessage', { message }, { traceparent }))
  }

  async function followStream(id: string, options: AgentCallOptions): Promise<Task> {
    const { traceparent } = options
    const stream = await call('SubscribeToTask', { id }, { traceparent })
    await readUntilSettled(stream, options, ({ event }) => 'task' in event && hasSettled(event.task.status.state))
    return readTask(id, memory)
  }

  async function followByPolling(id: string, options: AgentCallOptions): Promise<Task> {
    const { traceparent } = options
    return pollTask(
      await call('GetTask', { id, historyLength: 0 }, { traceparent, countsAs: 'SubscribeToTask', memory: undefined }),
      options,
    )
  }

  /** Only the last read is for the response: between polls, the task holds no room that others may need. */
  async function pollTask(first: Task, { signal, onEvent }: AgentCallOptions): Promise<Task> {
    for (let task = first; ; task = await readTask(first.id)) {
      onEvent({ task })
      if (hasSettled(task.status.state)) return readTask(first.id, memory)
      await sleep(pollMs, undefined, { signal })
    }
  }
}

/** Reads until the turn has ended or the caller aborts; the first event is always read. */
async function readUntilSettled(
  stream: TaskEventStream,
  { signal, onEvent }: AgentCallOptions,
  isLast: (item: StreamItem) => boolean,
): Promise<StreamItem | undefined> {
  const batches = stream[Symbol.asyncIterator]()
  const leave = (): void => void batches.return?.()
  let last: StreamItem | undefined
  try {
    for (;;) {
      const batch = await batches.next()
      if (batch.done === true) break
      for (const item of batch.value) {
        last = item
        onEvent(item.event)
        if (isLast(item) || isOver(item)) return last
      }
      signal.throwIfAborted()
      signal.addEventListener('abort', leave)
    }
    signal.throwIfAborted()
    return last
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** A stream stays open while the agent waits for credentials; the waiting tool call ends then. */
function isOver({ event }: StreamItem): boolean {
  return 'statusUpdate' in event && hasSettled(event.statusUpdate.status.state)
}
