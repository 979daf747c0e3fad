/** One of the hub's own agents at a desk: its turns are read off the log, as every stream is. */
import { setTimeout as sleep } from 'node:timers/promises'
import { hasSettled } from '@parley/a2a'
import type { Message, Task } from '@parley/a2a'
import type { Engine, StreamItem } from '@parley/a2a/server'
import { unlessAborted } from '../agents/unless-aborted.ts'
import { taskIdIn } from './desk.ts'
import type { AgentProfile, DeskAgent, DeskAnswer, DeskCall } from './desk.ts'
import type { Visit, Visits, Wanted } from './visits.ts'

/** How often an agent that does not stream is looked at. */
const pollMs = 200

export function createHouseAgent(profile: AgentProfile, agent: string, streams: boolean, visits: Visits): DeskAgent {
  const wanted = (operation: NonNullable<Wanted['operation']>, call?: DeskCall): Wanted => ({
    agent,
    operation,
    traceparent: call?.traceparent,
  })
  return {
    profile,
    ref: { agent },

    send: (message, call) =>
      visits.call(wanted(streams ? 'SendStreamingMessage' : 'SendMessage', call), (visit) => {
        visit.checkSkill(message)
        return streams ? streamed(message, visit, call) : unstreamed(message, visit, call)
      }),

    start: (message, call) =>
      visits.call(wanted('SendMessage', call), async (visit) => {
        visit.checkSkill(message)
        return begun(message, visit, call)
      }),

    follow: (taskId, call) =>
      visits.call(wanted('SubscribeToTask', call), async (visit) => {
        const task = await load(visit, taskId, 0)
        visit.told({ task })
        if (hasSettled(task.status.state)) return task
        return streams ? subscribed(taskId, visit, call) : polled(taskId, visit, call)
      }),

    get: (taskId, historyLength) =>
      visits.call(wanted('GetTask'), async (visit) => {
        const task = await load(visit, taskId, historyLength)
        visit.told({ task })
        return task
      }),

    cancel: (taskId) =>
      visits.call(wanted('CancelTask'), async (visit) => {
        const task = await visit.engine.cancelTask({ id: taskId }, visit.context)
        visit.told({ task })
        return task
      }),
  }
}

function load({ engine, context }: Visit, id: string, historyLength: number): Promise<Task> {
  return engine.getTask({ id, historyLength }, context)
}

async function begun(message: Message, visit: Visit, call: DeskCall): Promise<DeskAnswer> {
  const { engine, context } = visit
  const sent = await engine.sendMessage({ message, configuration: { returnImmediately: true } }, context)
  visit.told(sent)
  call.onEvent(sent)
  return sent
}

async function streamed(message: Message, visit: Visit, call: DeskCall): Promise<DeskAnswer> {
  const stream = await visit.engine.streamMessage({ message }, visit.context)
  const last = await read(stream, visit, call, ({ final }) => final)
  if (last !== undefined && 'message' in last.event) return { message: last.event.message }
  const id = last === undefined ? undefined : taskIdIn(last.event)
  return { task: await load(visit, id ?? message.taskId ?? '', 0) }
}

async function subscribed(taskId: string, visit: Visit, call: DeskCall): Promise<Task> {
  const stream = await visit.engine.subscribe({ id: taskId }, visit.context, 'replay')
  await read(stream, visit, call, ({ event }) => 'task' in event && hasSettled(event.task.status.state))
  return load(visit, taskId, 0)
}

/** Until the turn is over, or whoever waits has gone; what came first is heard in any case. */
async function read(
  stream: Awaited<ReturnType<Engine['streamMessage']>>,
  visit: Visit,
  { signal, onEvent }: DeskCall,
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
        visit.told(item.event)
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

/** A stream stays open while credentials are awaited; nobody who waits for the agent has to. */
function isOver({ event }: StreamItem): boolean {
  return 'statusUpdate' in event && hasSettled(event.statusUpdate.status.state)
}

async function unstreamed(message: Message, visit: Visit, call: DeskCall): Promise<DeskAnswer> {
  const { taskId } = message
  if (taskId === undefined) {
    const sent = await begun(message, visit, call)
    return 'message' in sent ? sent : { task: await polled(sent.task.id, visit, call) }
  }
  // Until the message is taken up the task looks as if it still waited: only the engine knows when the turn is over.
  const { engine, context } = visit
  const sent = await unlessAborted(engine.sendMessage({ message }, context), call.signal)
  visit.told(sent)
  return sent
}

async function polled(taskId: string, visit: Visit, { signal, onEvent }: DeskCall): Promise<Task> {
  for (;;) {
    const task = await load(visit, taskId, 0)
    onEvent({ task })
    if (hasSettled(task.status.state)) return task
    await sleep(pollMs, undefined, { signal })
  }
}
