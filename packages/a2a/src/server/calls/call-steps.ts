/** The steps that every call takes beside its operation, whatever binding it came by: admission, and the report to `onOutcome`. */
import type { Pollable, StreamItem, TaskEventStream } from '../../engine/contract.ts'
import { nextOf, toPollable } from '../../engine/task/follow.ts'
import { A2AError, type ErrorCode } from '../../model/error.ts'
import type { Operation } from '../../model/operation.ts'
import { type StreamEvent, taskIdOfEvent } from '../../model/task.ts'
import type { AdmissionResult, Admit, CallOutcome } from '../admission/admission.ts'
import { credentialsOf } from '../admission/admission.ts'
import type { RequestContext } from './request-context.ts'

/** Asks the operator for admission: throws if the call is refused. A promise only if `admit` returns one. */
export function admitCall(context: RequestContext, isNested = false): Promise<void> | undefined {
  const { admit } = context.server
  if (admit === undefined || isNested) return undefined
  return checkAdmission(context, admit, context.countsAs ?? context.operation)
}

/** Not before admission: until then the response must be that of an agent that the caller may not use (B-153). */
export function requireRegistered({ server, registeredAgent, caller }: RequestContext): void {
  if (registeredAgent.isAbsent === true) throw server.agentNotFound(registeredAgent, caller)
}

/** Calls `admit` and keeps the headers for the response. Throws, or rejects with, the error with which the call is refused. */
export function checkAdmission(
  context: RequestContext,
  admit: Admit,
  operation: Operation | undefined,
): Promise<void> | undefined {
  context.isChecked = true
  const decision = admit({
    agent: context.agent,
    caller: context.caller,
    ...(operation !== undefined ? { operation } : {}),
    version: context.version.id,
    binding: context.binding,
    credentials: credentialsOf(context.request, context.agent),
  })
  if ('then' in decision) return decision.then((decided) => applyDecision(context, decided))
  applyDecision(context, decision)
  return undefined
}

function applyDecision(context: RequestContext, { headers, refuse }: AdmissionResult): void {
  context.admissionHeaders = headers
  if (refuse !== undefined) throw refuse
}

/**
 * Returns the error for a failed call. `admit` sees every call of an authenticated caller, also one that turns out to be invalid:
 * such calls count, too.
 */
export async function admitFailedCall(context: RequestContext, reason: unknown): Promise<unknown> {
  const { admit } = context.server
  if (admit === undefined || context.isChecked || context.identity === undefined) return reason
  try {
    await checkAdmission(context, admit, undefined)
    return reason
  } catch (refusal) {
    return refusal
  }
}

/** Reports the request to `onOutcome`, once: later calls do nothing. */
export function reportOutcome(context: RequestContext, outcome: CallOutcome['outcome'], status: number): void {
  if (context.isReported) return
  context.isReported = true
  const { server, identity, endpoint, operation: performed, version, taskId, remoteAddress } = context
  const operation = context.countsAs ?? performed
  try {
    const durationMs = performance.now() - context.began
    // Assigned one by one: conditional spreads took four times as long.
    const answered: { -readonly [Field in keyof CallOutcome]: CallOutcome[Field] } = {
      agent: context.agent,
      endpoint,
      binding: context.binding,
      outcome,
      status,
      durationMs,
    }
    if (identity !== undefined) answered.caller = identity
    if (operation !== undefined) answered.operation = operation
    if (endpoint === 'call') answered.version = version.id
    if (taskId !== undefined) answered.taskId = taskId
    if (remoteAddress !== undefined) answered.remoteAddress = remoteAddress
    server.onOutcome?.(answered)
  } catch (cause) {
    server.log.warn('onOutcome failed', { agent: context.agent, cause })
  }
}

/** Returns the same stream; the call is reported with its first event, which names the task. */
export function reportFirstEvent(stream: TaskEventStream, context: RequestContext): TaskEventStream {
  if (context.isReported) return stream
  return { [Symbol.asyncIterator]: () => new ReportedReader(stream, context) }
}

class ReportedReader implements Pollable<readonly StreamItem[]> {
  readonly #source: Pollable<readonly StreamItem[]>
  /** Released with the report: a stream may be open for hours. */
  #context: RequestContext | undefined

  constructor(stream: TaskEventStream, context: RequestContext) {
    this.#source = toPollable(stream[Symbol.asyncIterator]())
    this.#context = context
  }

  poll(ready: () => void): IteratorResult<readonly StreamItem[], undefined> | undefined {
    const context = this.#context
    if (context === undefined) return this.#source.poll(ready)
    try {
      const result = this.#source.poll(ready)
      const item: StreamItem | undefined = result === undefined || result.done === true ? undefined : result.value[0]
      if (item !== undefined) context.taskId = taskIdIn(item.event) ?? context.taskId
      if (item !== undefined || result?.done === true) this.#report('OK')
      return result
    } catch (reason) {
      this.#report(A2AError.from(reason).code)
      throw reason
    }
  }

  next(): Promise<IteratorResult<readonly StreamItem[], undefined>> {
    return this.#context === undefined ? this.#source.next() : nextOf(this)
  }

  return(): Promise<IteratorResult<readonly StreamItem[], undefined>> {
    this.#report('OK')
    return this.#source.return()
  }

  #report(outcome: 'OK' | ErrorCode): void {
    const context = this.#context
    this.#context = undefined
    if (context !== undefined) reportOutcome(context, outcome, 200)
  }
}

/** A direct message may name its task. */
function taskIdIn(event: StreamEvent): string | undefined {
  return 'message' in event ? event.message.taskId : taskIdOfEvent(event)
}
