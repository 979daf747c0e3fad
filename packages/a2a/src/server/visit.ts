/** One request on its way through the house, for whoever is told how it ended. Made only where somebody is. */
import type { HttpRequest } from '../bindings/http.ts'
import type { EngineLog, EventStream, StreamItem } from '../engine/contract.ts'
import type { Caller } from '../model/caller.ts'
import { A2AError, type ErrorCode } from '../model/error.ts'
import type { Operation } from '../model/operation.ts'
import type { StreamEvent } from '../model/task.ts'
import type { VersionId } from '../versions/version.ts'
import type { Answered, Binding, OnAnswer } from './admission.ts'
import { senderAddress } from './base-url.ts'

export interface VisitParts {
  readonly onAnswer: OnAnswer
  readonly log: EngineLog
  readonly request: HttpRequest
  readonly agent: string
  readonly door: Answered['door']
  readonly binding: Binding
  readonly trustProxy: boolean
}

/** What becomes known on the way is put down here; the first `end` tells it. */
export interface Visit {
  agent: string
  caller?: Caller
  operation?: Operation
  version?: VersionId
  taskId?: string | undefined
  end(outcome: Answered['outcome'], status: number): void
}

export function openVisit({ onAnswer, log, request, agent, door, binding, trustProxy }: VisitParts): Visit {
  const began = performance.now()
  // Asked for now: a connection that is gone does not say any more who it was.
  const remoteAddress = senderAddress(request, trustProxy)
  let isOver = false
  const visit: Visit = {
    agent,
    end(outcome, status) {
      if (isOver) return
      isOver = true
      const { caller, operation, version, taskId } = visit
      try {
        onAnswer({
          agent: visit.agent,
          ...(caller !== undefined ? { caller } : {}),
          door,
          ...(operation !== undefined ? { operation } : {}),
          binding,
          ...(version !== undefined && door === 'call' ? { version } : {}),
          outcome,
          status,
          ...(taskId !== undefined ? { taskId } : {}),
          ...(remoteAddress !== undefined ? { remoteAddress } : {}),
          durationMs: performance.now() - began,
        })
      } catch (cause) {
        log.warn('onAnswer failed', { agent, cause })
      }
    },
  }
  return visit
}

/** The same stream; the visit ends with its first event, which says what task it is about. */
export function watched(stream: EventStream, visit: Visit): EventStream {
  const ended = (outcome: 'OK' | ErrorCode): void => visit.end(outcome, 200)
  return {
    [Symbol.asyncIterator]() {
      const source = stream[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const result = await source.next()
            const item: StreamItem | undefined = result.done === true ? undefined : result.value[0]
            if (item !== undefined) visit.taskId = taskIdOf(item.event) ?? visit.taskId
            if (item !== undefined || result.done === true) ended('OK')
            return result
          } catch (reason) {
            ended(A2AError.from(reason).code)
            throw reason
          }
        },
        async return() {
          ended('OK')
          return (await source.return?.()) ?? { done: true, value: undefined }
        },
      }
    },
  }
}

export function taskIdOf(event: StreamEvent): string | undefined {
  if ('task' in event) return event.task.id
  if ('statusUpdate' in event) return event.statusUpdate.taskId
  if ('artifactUpdate' in event) return event.artifactUpdate.taskId
  return event.message.taskId
}
