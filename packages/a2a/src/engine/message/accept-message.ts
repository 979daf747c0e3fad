/**
 * How a message becomes work: it opens a task, continues one, or is recognized as a repeat. The same for a send and for a stream.
 */
import type { CheckMessage } from '../../agents/agent.ts'
import { A2AError, invalidParams, taskNotFound } from '../../model/error.ts'
import { newId } from '../../model/id.ts'
import type { SendMessageRequest } from '../../model/operation.ts'
import type { TurnOptions } from '../../model/record.ts'
import { isTerminal } from '../../model/state.ts'
import type { Message } from '../../model/task.ts'
import type { IdempotencyKey, Store } from '../../stores/store.ts'
import { validateSendRequest } from './validate-request.ts'
import type { AgentEntry, CallContext, EngineLimits } from '../contract.ts'
import { DuplicateMessage, type LoadedTask } from '../task/loaded-task.ts'
import { type MessageClaims, createDirectReplies } from './message-claims.ts'
import { InFlightMap } from '../in-flight-map.ts'
import type { TaskCache } from '../task/task-cache.ts'
import type { TurnInput } from '../turn/turn-runner.ts'
import { createOpenTaskQuota } from './open-task-quota.ts'
import type { TaskRun } from '../turn/task-run.ts'
import { hideSecrets } from './message-secrets.ts'
import * as intents from '../task/task-intents.ts'
import { findAnsweredTask, mightAnswerSecret } from './tool-answer.ts'

export type AcceptedMessage =
  | { readonly reply: Message }
  /** `submittedSeq`: this message opened the task, and its stream begins there. */
  | { readonly loaded: LoadedTask; readonly submittedSeq?: number; readonly repeated?: true }

export interface AcceptDeps {
  readonly store: Store
  readonly taskCache: TaskCache
  readonly limits: EngineLimits
  readonly claims: MessageClaims
  now(): number
  monotonicNow(): number
  /** The caller's own task, or throws TASK_NOT_FOUND. */
  findOwn(id: string, context: CallContext): Promise<LoadedTask>
  /** Whether an agent is running on the task in this process. */
  isRunning(loaded: LoadedTask): boolean
  startRun(loaded: LoadedTask, entry: AgentEntry, input: TurnInput): TaskRun
  /** Continues a task whose lease this process took with a message. */
  resume(loaded: LoadedTask): Promise<void>
}

export function createMessageAcceptor(deps: AcceptDeps) {
  const inFlight = new InFlightMap<{ readonly hash: string; readonly accepted: Promise<AcceptedMessage> }>()
  const replies = createDirectReplies(deps.monotonicNow)
  const quota = createOpenTaskQuota(deps.store.tasks, deps.limits.tasksPerCaller)

  return async function accept(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
  ): Promise<AcceptedMessage> {
    validateSendRequest(request, entry, deps.limits)
    const claimed = deps.claims.claim(request.message, context, entry)
    const claim = claimed instanceof Promise ? await claimed : claimed
    if (claim === undefined) return acceptNew(request, context, entry, undefined)
    const { key, hash } = claim
    const known = inFlight.get(key) ?? replies.get(key)
    if (known !== undefined) {
      checkSameContent(known.hash, claim)
      return 'reply' in known ? { reply: known.reply } : asRepeated(await known.accepted)
    }
    const accepted = acceptOnce(request, context, entry, claim)
    inFlight.set(key, { hash, accepted })
    try {
      const result = await accepted
      if ('reply' in result) {
        const expiresAt = deps.monotonicNow() + claim.ttlMs
        replies.add(key, { hash, reply: result.reply, expiresAt })
      }
      return result
    } finally {
      inFlight.delete(key)
    }
  }

  async function acceptOnce(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
    claim: IdempotencyKey,
  ): Promise<AcceptedMessage> {
    const before = await deps.store.tasks.findMessage(claim.key, deps.now())
    if (before !== undefined) return attach(before, claim, context)
    try {
      return await acceptNew(request, context, entry, claim)
    } catch (reason) {
      if (reason instanceof DuplicateMessage) return attach(reason, claim, context)
      throw reason
    }
  }

  async function acceptNew(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
    claim: IdempotencyKey | undefined,
  ): Promise<AcceptedMessage> {
    const { message } = request
    const refers = message.referenceTaskIds !== undefined
    const taskId = refers ? await findAnsweredTask(message, context, deps.taskCache) : message.taskId
    return taskId === undefined
      ? openTask(request, context, entry, claim)
      : continueTask(taskId, request, context, entry, claim)
  }

  async function attach(
    before: { readonly taskId: string; readonly hash: string },
    claim: IdempotencyKey,
    context: CallContext,
  ): Promise<AcceptedMessage> {
    checkSameContent(before.hash, claim)
    return { loaded: await deps.findOwn(before.taskId, context), repeated: true }
  }

  async function openTask(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
    claim: IdempotencyKey | undefined,
  ): Promise<AcceptedMessage> {
    if (entry.isDraining === true) throw agentUnavailable()
    if (entry.checkMessage !== undefined) await checkMessage(entry.checkMessage, request, context)
    const entered = quota.reserve(context.tenant, context.caller)
    const leave = typeof entered === 'function' ? entered : await entered
    const now = deps.now()
    const id = context.newTaskId ?? newId(now)
    const contextId = request.message.contextId ?? newId(now)
    const loaded = deps.taskCache.create({
      id,
      contextId,
      tenant: context.tenant,
      agent: context.agent,
      owner: context.caller.id,
      status: intents.statusAt(now, 'TASK_STATE_SUBMITTED'),
      statusAt: now,
      createdAt: now,
    })
    const message = hideSecrets({ ...request.message, taskId: id, contextId }, false)
    try {
      const run = deps.startRun(loaded, entry, {
        message,
        options: turnOptions(request, context),
        turn: 1,
        attempt: 1,
        consumedSeq: 1,
        opening: {
          ...(claim !== undefined ? { idempotency: claim } : {}),
          atOnce: request.configuration?.returnImmediately === true || context.singleUse !== undefined,
          // Until the claim is in the log, every process would run the agent once for what opens one task.
          isAwaited: context.singleUse !== undefined,
        },
      })
      const opening = await run.opening
      if ('submittedSeq' in opening) return { loaded, submittedSeq: opening.submittedSeq }
      deps.taskCache.evict(loaded)
      return { reply: opening.reply }
    } catch (reason) {
      deps.taskCache.evict(loaded)
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
  ): Promise<AcceptedMessage> {
    const loaded = await deps.findOwn(taskId, context)
    if (entry.isDraining === true && !deps.isRunning(loaded)) throw agentDraining(taskId)
    const { contextId } = loaded.fold
    const { message } = request
    if (message.contextId !== undefined && message.contextId !== contextId) {
      throw invalidParams([{ field: 'message.contextId', description: 'is not the context of that task' }])
    }
    // Only for the message that opened the task: those that continued it are claimed within the task.
    if (claim !== undefined && loaded.fold.history[0]?.messageId === message.messageId) throw messageIdReused()
    const stored = { ...message, taskId, contextId }
    const kept = hideSecrets(stored, mightAnswerSecret(loaded, stored))
    const isSecret = kept !== stored
    const deliver = intents.deliverMessage(kept, turnOptions(request, context), claim, entry.options)
    // A secret is in no log from which another process could read it: the process that runs the task accepts it, or it is rejected.
    const written = await loaded.write(
      isSecret
        ? (draft) => (draft.canTakeLease || loaded.hasLease ? intents.atLogEnd(deliver(draft)) : undefined)
        : deliver,
    )
    if (written === undefined) {
      if (isTerminal(loaded.fold.status.state)) throw taskEnded(taskId)
      throw isSecret && !loaded.hasLease ? taskRunsElsewhere(taskId) : taskBusy(taskId)
    }
    if (loaded.hasLease) await deps.resume(loaded)
    return { loaded }
  }
}

function checkMessage(check: CheckMessage, { message, metadata }: SendMessageRequest, { caller }: CallContext) {
  return check(message, { caller, ...(metadata !== undefined ? { metadata } : {}) })
}

function asRepeated(accepted: AcceptedMessage): AcceptedMessage {
  return 'reply' in accepted ? accepted : { loaded: accepted.loaded, repeated: true }
}

function checkSameContent(before: string, { hash }: IdempotencyKey): void {
  if (before !== hash) throw messageIdReused()
}

function messageIdReused(): A2AError {
  return new A2AError('MESSAGE_ID_REUSED', 'message.messageId was used for another message', {
    violations: [{ field: 'message.messageId', description: 'was used for another message' }],
  })
}

function taskEnded(taskId: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', 'The task has ended and accepts no more messages', { taskId })
}

function taskBusy(taskId: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', 'The task is busy and accepts no message now', { taskId })
}

/** For agents that are not registered, and for agents that are draining. */
export function agentUnavailable(): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', 'This server has no such agent')
}

function agentDraining(taskId: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', 'The agent accepts no more messages', { taskId })
}

function taskRunsElsewhere(taskId: string): A2AError {
  return new A2AError('UNAVAILABLE', 'The task runs in another process, which must receive the secret: try again', {
    taskId,
  })
}

/** Only the fields that are set: most requests have nothing beside their message. */
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

/** The same error whether the task does not exist or belongs to another caller (B-160). */
export function checkOwner<Found extends Pick<LoadedTask, 'partition' | 'isStored'>>(
  found: Found | undefined,
  id: string,
  context: CallContext,
): Found {
  const { tenant, agent, owner } = found?.partition ?? {}
  if (found === undefined || !found.isStored) throw taskNotFound(id)
  if (owner !== context.caller.id || agent !== context.agent || tenant !== context.tenant) throw taskNotFound(id)
  return found
}
