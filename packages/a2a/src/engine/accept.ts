/**
 * How a message becomes work: it opens a task, continues one, or is recognised as one
 * that came before. The same for a send and for a stream.
 */
import { A2AError, invalidParams, taskNotFound } from '../model/error.ts'
import { newId } from '../model/id.ts'
import type { SendMessageRequest } from '../model/operation.ts'
import type { TurnOptions } from '../model/record.ts'
import { isTerminal } from '../model/state.ts'
import type { Message } from '../model/task.ts'
import type { IdempotencyKey, Store } from '../stores/store.ts'
import { checkSend } from './check.ts'
import type { AgentEntry, CallContext, EngineLimits } from './contract.ts'
import type { Live } from './live.ts'
import { DuplicateMessage } from './append-refusals.ts'
import type { MessageClaims } from './message-claims.ts'
import { passing } from './passing.ts'
import type { Registry } from './registry.ts'
import type { TurnInput } from './turn-input.ts'
import { createReplies } from './replies.ts'
import { createRoom } from './room.ts'
import type { Run } from './run.ts'
import { hideSecrets } from './secrets.ts'
import * as steps from './steps.ts'
import { findAnsweredTask, mayAnswerSecret } from './tool-answer.ts'

export type Accepted =
  | { readonly reply: Message }
  /** `submittedSeq`: this message opened the task, and that is where its stream begins. */
  | { readonly live: Live; readonly submittedSeq?: number; readonly repeated?: true }

export interface AcceptParts {
  readonly store: Store
  readonly registry: Registry
  readonly limits: EngineLimits
  readonly claims: MessageClaims
  now(): number
  monotonicNow(): number
  /** The caller's own task, or TASK_NOT_FOUND. */
  findOwn(id: string, context: CallContext): Promise<Live>
  /** Whether an agent is at work on it here. */
  runs(live: Live): boolean
  startRun(live: Live, entry: AgentEntry, input: TurnInput): Run
  /** Goes on with a task whose lease came to us with a message. */
  resume(live: Live): Promise<void>
}

export function createAccept(parts: AcceptParts) {
  const underway = passing<{ readonly hash: string; readonly accepted: Promise<Accepted> }>()
  const replies = createReplies(parts.monotonicNow)
  const room = createRoom(parts.store, parts.limits.tasksPerCaller)

  return async function accept(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
  ): Promise<Accepted> {
    checkSend(request, entry, parts.limits)
    const claimed = parts.claims.claim(request.message, context, entry)
    const claim = claimed instanceof Promise ? await claimed : claimed
    if (claim === undefined) return take(request, context, entry, undefined)
    const { key, hash } = claim
    const known = underway.get(key) ?? replies.get(key)
    if (known !== undefined) {
      checkSame(known.hash, claim)
      return 'reply' in known ? { reply: known.reply } : repeat(await known.accepted)
    }
    const accepted = takeOnce(request, context, entry, claim)
    underway.set(key, { hash, accepted })
    try {
      const result = await accepted
      if ('reply' in result) {
        const expiresAt = parts.monotonicNow() + entry.options.idempotencyWindowMs
        replies.add(key, { hash, reply: result.reply, expiresAt })
      }
      return result
    } finally {
      underway.delete(key)
    }
  }

  async function takeOnce(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
    claim: IdempotencyKey,
  ): Promise<Accepted> {
    const before = await parts.store.findMessage(claim.key, parts.now())
    if (before !== undefined) return attach(before, claim, context)
    try {
      return await take(request, context, entry, claim)
    } catch (reason) {
      if (reason instanceof DuplicateMessage) return attach(reason, claim, context)
      throw reason
    }
  }

  async function take(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
    claim: IdempotencyKey | undefined,
  ): Promise<Accepted> {
    const { message } = request
    const refers = message.referenceTaskIds !== undefined
    const taskId = refers ? await findAnsweredTask(message, context, parts.registry) : message.taskId
    return taskId === undefined
      ? openTask(request, context, entry, claim)
      : continueTask(taskId, request, context, entry, claim)
  }

  async function attach(
    before: { readonly taskId: string; readonly hash: string },
    claim: IdempotencyKey,
    context: CallContext,
  ): Promise<Accepted> {
    checkSame(before.hash, claim)
    return { live: await parts.findOwn(before.taskId, context), repeated: true }
  }

  async function openTask(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
    claim: IdempotencyKey | undefined,
  ): Promise<Accepted> {
    if (entry.isLeaving === true) throw noSuchAgent()
    const entered = room.enter(context.tenant, context.caller.id)
    const leave = typeof entered === 'function' ? entered : await entered
    const now = parts.now()
    const id = context.newTaskId ?? newId(now)
    const contextId = request.message.contextId ?? newId(now)
    const live = parts.registry.create({
      id,
      contextId,
      tenant: context.tenant,
      agent: context.agent,
      owner: context.caller.id,
      status: steps.statusAt(now, 'TASK_STATE_SUBMITTED'),
      statusAt: now,
      createdAt: now,
    })
    const message = hideSecrets({ ...request.message, taskId: id, contextId }, false)
    try {
      const run = parts.startRun(live, entry, {
        message,
        options: turnOptions(request, context),
        turn: 1,
        attempt: 1,
        consumedSeq: 1,
        opening: {
          ...(claim !== undefined ? { idempotency: claim } : {}),
          atOnce: request.configuration?.returnImmediately === true,
        },
      })
      const opening = await run.opening
      if ('submittedSeq' in opening) return { live, submittedSeq: opening.submittedSeq }
      parts.registry.forget(live)
      return { reply: opening.reply }
    } catch (reason) {
      parts.registry.forget(live)
      throw reason
    } finally {
      leave()
    }
  }

  async function continueTask(
    taskId: string,
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
    claim: IdempotencyKey | undefined,
  ): Promise<Accepted> {
    const live = await parts.findOwn(taskId, context)
    if (entry.isLeaving === true && !parts.runs(live)) throw leaving(taskId)
    const { contextId } = live.fold
    const { message } = request
    if (message.contextId !== undefined && message.contextId !== contextId) {
      throw invalidParams([{ field: 'message.contextId', description: 'is not the context of that task' }])
    }
    // Of the message that opened the task: those that continued it are claimed within the task.
    if (claim !== undefined && live.fold.history[0]?.messageId === message.messageId) throw reused()
    const stored = { ...message, taskId, contextId }
    const kept = hideSecrets(stored, mayAnswerSecret(live, stored))
    const isSecret = kept !== stored
    const deliver = steps.deliver(kept, turnOptions(request, context), claim, entry.options)
    // A secret is in no log that another process could read it from: it is taken by who runs the task, or not at all.
    const written = await live.write(
      isSecret ? (draft) => (draft.mayTake || live.owned ? steps.atTheEnd(deliver(draft)) : undefined) : deliver,
    )
    if (written === undefined) {
      if (isTerminal(live.fold.status.state)) throw ended(taskId)
      throw isSecret && !live.owned ? elsewhere(taskId) : busy(taskId)
    }
    if (live.owned) await parts.resume(live)
    return { live }
  }
}

function repeat(accepted: Accepted): Accepted {
  return 'reply' in accepted ? accepted : { live: accepted.live, repeated: true }
}

function checkSame(before: string, { hash }: IdempotencyKey): void {
  if (before !== hash) throw reused()
}

function reused(): A2AError {
  return new A2AError('MESSAGE_ID_REUSED', 'message.messageId was used for another message of this task', {
    violations: [{ field: 'message.messageId', description: 'was used for another message of this task' }],
  })
}

function ended(taskId: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', 'The task has ended and takes no more messages', { taskId })
}

function busy(taskId: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', 'The task is busy and takes no message now', { taskId })
}

/** Of those who never were, and of those who are going. */
export function noSuchAgent(): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', 'No such agent is served here')
}

function leaving(taskId: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', 'The agent takes no more messages', { taskId })
}

function elsewhere(taskId: string): A2AError {
  return new A2AError('UNAVAILABLE', 'The task runs elsewhere, and a secret can only be taken there: try again', {
    taskId,
  })
}

/** Only what is there: most requests say nothing beside their message. */
function turnOptions(
  { configuration, metadata }: SendMessageRequest,
  { extensions, caller, traceparent, tracestate, streamed, deadlineAt, provenance }: CallContext,
): TurnOptions {
  const modes = configuration?.acceptedOutputModes
  return {
    ...(modes !== undefined && modes.length > 0 ? { acceptedOutputModes: modes } : {}),
    ...(streamed === true ? { streamed } : {}),
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions.length > 0 ? { extensions } : {}),
    ...(caller.scopes !== undefined ? { scopes: caller.scopes } : {}),
    ...(caller.skills !== undefined ? { skills: caller.skills } : {}),
    ...(traceparent !== undefined ? { traceparent } : {}),
    ...(tracestate !== undefined ? { tracestate } : {}),
    ...(deadlineAt !== undefined ? { deadlineAt } : {}),
    ...(provenance !== undefined ? { provenance } : {}),
  }
}

/** The same answer whether it is not there or not the caller's (B-160). */
export function checkOwner(live: Live | undefined, id: string, context: CallContext): Live {
  const { tenant, agent, owner } = live?.partition ?? {}
  if (live === undefined || !live.opened) throw taskNotFound(id)
  if (owner !== context.caller.id || agent !== context.agent || tenant !== context.tenant) throw taskNotFound(id)
  return live
}
