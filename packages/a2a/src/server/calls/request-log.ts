/** Collects what `onAnswer` reports about one request. Created only if `onAnswer` is configured. */
import { taskIdOfEvent } from '../../model/stream-event.ts'
import type { HttpRequest } from '../../bindings/http.ts'
import type { BindingName } from '../../bindings/protocol-bindings.ts'
import type { EngineLog, TaskEventStream, StreamItem } from '../../engine/contract.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError, type ErrorCode } from '../../model/error.ts'
import type { Operation } from '../../model/operation.ts'
import type { StreamEvent } from '../../model/task.ts'
import type { VersionId } from '../../versions/version.ts'
import type { RequestOutcome, OnAnswer } from '../admission/admission.ts'
import { senderAddress } from '../http/base-url.ts'

export interface RequestLogDeps {
  readonly onAnswer: OnAnswer
  readonly log: EngineLog
  readonly request: HttpRequest
  readonly agent: string
  readonly endpoint: RequestOutcome['endpoint']
  readonly binding: BindingName
  readonly trustProxy: boolean
}

/** Collects values as they become known; the first `end` reports them. */
export interface RequestLog {
  agent: string
  caller?: Caller
  operation?: Operation
  version?: VersionId
  taskId?: string | undefined
  end(outcome: RequestOutcome['outcome'], status: number): void
}

export function openRequestLog({
  onAnswer,
  log,
  request,
  agent,
  endpoint,
  binding,
  trustProxy,
}: RequestLogDeps): RequestLog {
  const began = performance.now()
  // Read now: a closed connection no longer has an address.
  const remoteAddress = senderAddress(request, trustProxy)
  let isOver = false
  const requestLog: RequestLog = {
    agent,
    end(outcome, status) {
      if (isOver) return
      isOver = true
      const { caller, operation, version, taskId } = requestLog
      try {
        onAnswer({
          agent: requestLog.agent,
          ...(caller !== undefined ? { caller } : {}),
          endpoint,
          ...(operation !== undefined ? { operation } : {}),
          binding,
          ...(version !== undefined && endpoint === 'call' ? { version } : {}),
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
  return requestLog
}

/** Returns the same stream; the request log ends with its first event, which names the task. */
export function logFirstEvent(stream: TaskEventStream, requestLog: RequestLog): TaskEventStream {
  const ended = (outcome: 'OK' | ErrorCode): void => requestLog.end(outcome, 200)
  return {
    [Symbol.asyncIterator]() {
      const source = stream[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const result = await source.next()
            const item: StreamItem | undefined = result.done === true ? undefined : result.value[0]
            if (item !== undefined) requestLog.taskId = taskIdIn(item.event) ?? requestLog.taskId
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

/** A direct message may name its task. */
function taskIdIn(event: StreamEvent): string | undefined {
  return 'message' in event ? event.message.taskId : taskIdOfEvent(event)
}
