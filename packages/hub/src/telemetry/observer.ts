/**
 * The one listener for what happens in the hub. The audit, metrics, statistics, traces and the change feed follow it. Requests
 * and tasks are counted once, by the metrics: the statistics add up what their counters gained.
 */
import { isTerminal, type AgentLog, type TaskState } from '@parley/a2a'
import type { OnOutcome, PushResult } from '@parley/a2a/internal'
import type { EndedCall, EventContext, OnEvent } from '@parley/a2a/server'
import type { FullStore } from '@parley/a2a/stores'
import type { TraceSpan } from './traces/trace-types.ts'

/** What can be followed. */
export interface Observed {
  readonly call: ObservedCall
  readonly task: ObservedTask
  readonly push: PushResult
  readonly span: ObservedSpan
  readonly storeCall: StoreCall
  /** Something was written that readers of the store follow: an event of a task, or another change. */
  readonly write: undefined
}

/** No agent can have this name. */
export const unknownAgent = '-'

/** An answered request. */
export interface ObservedCall {
  readonly call: EndedCall
  /** `unknownAgent` if no agent has this name: the names in requests are not bounded. */
  readonly agent: string
}

/** A task that reached a state. */
export interface ObservedTask extends Pick<EventContext, 'agent' | 'owner' | 'taskId'> {
  readonly state: TaskState
  readonly isStarted: boolean
  readonly isEnded: boolean
}

/** A span of a trace that ended; reported by the one process that reads the log. */
export interface ObservedSpan {
  readonly span: TraceSpan
  readonly agent: string
  /** The owner of the task. */
  readonly owner: string
}

/** A call of the store that calls and turns wait for. */
export interface StoreCall {
  readonly operation: string
  readonly seconds: number
  readonly isOk: boolean
}

export interface Observer {
  /** Of the server. */
  readonly onOutcome: OnOutcome
  readonly onEvent: OnEvent
  observe<Kind extends keyof Observed>(kind: Kind, observed: Observed[Kind]): void
  /** Listeners are called in the order in which they follow. An error of one does not affect the others. Returns how to stop. */
  follow<Kind extends keyof Observed>(kind: Kind, listener: (observed: Observed[Kind]) => void): () => void
}

export interface ObserverDeps {
  /** Whether an agent is registered. */
  hasAgent(name: string): boolean
  readonly log: Pick<AgentLog, 'error'>
}

export function createObserver({ hasAgent, log }: ObserverDeps): Observer {
  const listeners: Record<keyof Observed, readonly ((observed: never) => void)[]> = {
    ...{ call: [], task: [], push: [], span: [], storeCall: [], write: [] },
  }

  function observe<Kind extends keyof Observed>(kind: Kind, observed: Observed[Kind]): void {
    for (const listener of listeners[kind]) {
      try {
        listener(observed as never)
      } catch (cause) {
        log.error('an event was not counted', { kind, cause })
      }
    }
  }

  return {
    observe,
    onOutcome: (call) => observe('call', { call, agent: hasAgent(call.agent) ? call.agent : unknownAgent }),
    onEvent(event, { agent, owner, taskId }) {
      if ('statusUpdate' in event) {
        const { state } = event.statusUpdate.status
        observe('task', {
          ...{ agent, owner, taskId, state },
          isStarted: state === 'TASK_STATE_SUBMITTED',
          isEnded: isTerminal(state),
        })
      }
      observe('write', undefined)
    },
    follow(kind, listener) {
      listeners[kind] = [...listeners[kind], listener]
      return () => {
        listeners[kind] = listeners[kind].filter((one) => one !== listener)
      }
    },
  }
}

type AsyncMethod = (...given: unknown[]) => Promise<unknown>
/** The methods that calls and turns wait for, and the `operation` that each has in the metrics. */
type TimedMethods<Part> = Readonly<Partial<Record<keyof Part & string, string>>>

const taskMethods: TimedMethods<FullStore['tasks']> = {
  append: 'append',
  load: 'load',
  read: 'read',
  list: 'list',
  findMessage: 'findMessage',
}

/** Reports store calls with their duration. Results are not inspected. */
export function observedStore(store: FullStore, { observe }: Pick<Observer, 'observe'>): FullStore {
  return Object.assign(timed(store, { prune: 'prune' }), {
    tasks: timed(store.tasks, taskMethods),
    push: timed(store.push, { claim: 'claimPush' }),
    feed: timed(store.feed, { read: 'feed' }),
  })

  /** Inherits from the original, so that everything else is unchanged. */
  function timed<Part extends object>(part: Part, methods: TimedMethods<Part>): Part {
    const view = Object.create(part) as Record<string, AsyncMethod>
    for (const [name, operation] of Object.entries<string>(methods as Record<string, string>)) {
      const method = (part[name as keyof Part] as AsyncMethod).bind(part)
      view[name] = (...given) => {
        const startedAt = performance.now()
        const report = (isOk: boolean): void => {
          observe('storeCall', { operation, seconds: (performance.now() - startedAt) / 1_000, isOk })
        }
        const answer = method(...given)
        answer.then(
          () => report(true),
          () => report(false),
        )
        return answer
      }
    }
    return view as Part
  }
}
