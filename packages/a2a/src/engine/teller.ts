/** Tells `onEvent` of an agent what was logged: after the fact, once for each event, and without holding anything up. */
import type { Append } from '../stores/store.ts'
import type { AgentEntry, EngineLog, EventAbout, OnEvent } from './contract.ts'
import type { Live } from './live.ts'
import { eventOf } from './event-of.ts'

export function createTeller(agent: (name: string) => AgentEntry | undefined, log: EngineLog) {
  return (live: Live, records: Append['records'], firstSeq: number): void => {
    const onEvent = agent(live.partition.agent)?.onEvent
    if (onEvent === undefined) return
    const about = aboutOf(live)
    records.forEach(({ body }, index) => {
      const event = eventOf(live.id, live.fold.contextId, body)
      if (event !== undefined) tell(onEvent, event, { ...about, seq: firstSeq + index }, log)
    })
  }
}

export function aboutOf({ id, fold, partition }: Live): EventAbout {
  return { ...partition, taskId: id, contextId: fold.contextId }
}

/** Whatever a listener does is its own affair: the task goes on. */
function tell(onEvent: OnEvent, event: Parameters<OnEvent>[0], about: Parameters<OnEvent>[1], log: EngineLog): void {
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
