/** Calls `onEvent` of an agent with each logged event: afterwards, once per event, and without blocking. */
import type { Append } from '../../stores/store.ts'
import type { AgentEntry, EngineLog, EventContext, OnEvent } from '../contract.ts'
import type { LoadedTask } from './loaded-task.ts'
import { eventOfRecord } from './log-event.ts'

export function createEventListener(agent: (name: string) => AgentEntry | undefined, log: EngineLog) {
  return (live: LoadedTask, records: Append['records'], firstSeq: number): void => {
    const onEvent = agent(live.partition.agent)?.onEvent
    if (onEvent === undefined) return
    const about = eventContextOf(live)
    records.forEach(({ body }, index) => {
      const event = eventOfRecord(live.id, live.fold.contextId, body)
      if (event !== undefined) callListener(onEvent, event, { ...about, seq: firstSeq + index }, log)
    })
  }
}

export function eventContextOf({ id, fold, partition }: LoadedTask): EventContext {
  return { ...partition, taskId: id, contextId: fold.contextId }
}

/** An error in a listener does not affect the task. */
function callListener(
  onEvent: OnEvent,
  event: Parameters<OnEvent>[0],
  about: Parameters<OnEvent>[1],
  log: EngineLog,
): void {
  const failed = (cause: unknown): void => {
    log.error('onEvent failed', { agent: about.agent, taskId: about.taskId, seq: about.seq, cause })
  }
  try {
    const told = onEvent(event, about)
    if (told instanceof Promise) told.catch(failed)
  } catch (reason) {
    failed(reason)
  }
}
