/** One of the hub's own agents in an agent directory: its turns are read from the log, as every stream is. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Message, Task } from '@parley/a2a'
import type { Engine, StreamItem } from '@parley/a2a/server'
import { abortable, hasSettled, taskIdOfEvent } from '@parley/a2a'
import type { AgentProfile, DirectoryAgent, AgentAnswer, AgentCallOptions } from './agent-directory.ts'
import type { LocalCall, LocalCalls, LocalCallRequest } from './local-calls.ts'

/** Polling interval for an agent that does not stream. */
const pollMs = 200

export function createLocalAgent(
  profile: AgentProfile,
  agent: string,
  streams: boolean,
  calls: LocalCalls,
): DirectoryAgent {
  const requestOf = (
    operation: NonNullable<LocalCallRequest['operation']>,
    call?: AgentCallOptions,
  ): LocalCallRequest => ({
    agent,
    operation,
    traceparent: call?.traceparent,
  })
  return {
    profile,
    ref: { agent },

    send: (message, call) =>
      calls.call(requestOf(streams ? 'SendStreamingMessage' : 'SendMessage', call), (localCall) => {
        localCall.checkSkill(message)
        return streams ? sendStreaming(message, localCall, call) : sendAndPoll(message, localCall, call)
      }),

    start: (message, call) =>
      calls.call(requestOf('SendMessage', call), async (localCall) => {
        localCall.checkSkill(message)
        return startTask(message, localCall, call)
      }),

    follow: (taskId, call) =>
      calls.call(requestOf('SubscribeToTask', call), async (localCall) => {
        const task = await getTask(localCall, taskId, 0)
        localCall.recordTask({ task })
        if (hasSettled(task.status.state)) return task
        return streams ? followStream(taskId, localCall, call) : pollTask(taskId, localCall, call)
      }),

    get: (taskId, historyLength) =>
      calls.call(requestOf('GetTask'), async (localCall) => {
        const task = await getTask(localCall, taskId, historyLength)
        localCall.recordTask({ task })
        return task
      }),

    cancel: (taskId) =>
      calls.call(requestOf('CancelTask'), async (localCall) => {
        const task = await localCall.engine.cancelTask({ id: taskId }, localCall.context)
        localCall.recordTask({ task })
        return task
      }),
  }
}

function getTask({ engine, context }: LocalCall, id: string, historyLength: number): Promise<Task> {
  return engine.getTask({ id, historyLength }, context)
}

async function startTask(message: Message, localCall: LocalCall, call: AgentCallOptions): Promise<AgentAnswer> {
  const { engine, context } = localCall
  const sent = await engine.sendMessage({ message, configuration: { returnImmediately: true } }, context)
  localCall.recordTask(sent)
  call.onEvent(sent)
  return sent
}

async function sendStreaming(message: Message, localCall: LocalCall, call: AgentCallOptions): Promise<AgentAnswer> {
  const stream = await localCall.engine.streamMessage({ message }, localCall.context)
  const last = await readUntilSettled(stream, localCall, call, ({ final }) => final)
  if (last !== undefined && 'message' in last.event) return { message: last.event.message }
  const id = last === undefined ? undefined : taskIdOfEvent(last.event)
  return { task: await getTask(localCall, id ?? message.taskId ?? '', 0) }
}

async function followStream(taskId: string, localCall: LocalCall, call: AgentCallOptions): Promise<Task> {
  const stream = await localCall.engine.subscribe({ id: taskId }, localCall.context, 'replay')
  await readUntilSettled(stream, localCall, call, ({ event }) => 'task' in event && hasSettled(event.task.status.state))
  return getTask(localCall, taskId, 0)
}

/** Reads until the turn has ended or the caller aborts; the first event is always read. */
async function readUntilSettled(
  stream: Awaited<ReturnType<Engine['streamMessage']>>,
  localCall: LocalCall,
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
        localCall.recordTask(item.event)
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

async function sendAndPoll(message: Message, localCall: LocalCall, call: AgentCallOptions): Promise<AgentAnswer> {
  const { taskId } = message
  if (taskId === undefined) {
    const sent = await startTask(message, localCall, call)
    return 'message' in sent ? sent : { task: await pollTask(sent.task.id, localCall, call) }
  }
  // Until the message is processed the task looks as if it still waited: only the engine knows when the turn has ended.
  const { engine, context } = localCall
  const sent = await abortable(call.signal, engine.sendMessage({ message }, context))
  localCall.recordTask(sent)
  return sent
}

async function pollTask(taskId: string, localCall: LocalCall, { signal, onEvent }: AgentCallOptions): Promise<Task> {
  for (;;) {
    const task = await getTask(localCall, taskId, 0)
    onEvent({ task })
    if (hasSettled(task.status.state)) return task
    await sleep(pollMs, undefined, { signal })
  }
}
