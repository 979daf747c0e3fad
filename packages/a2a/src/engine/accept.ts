/**
 * How a message becomes work: it opens a task, continues one, or is recognised as one
 * that came before. The same for a send and for a stream.
 */
import { A2AError, invalidParams, taskNotFound } from '../model/error.ts'
import { clientToolsExtension } from '../model/extension.ts'
import { newId } from '../model/id.ts'
import type { SendMessageRequest } from '../model/operation.ts'
import type { TurnOptions } from '../model/record.ts'
import { asksForSecret } from '../model/sensitive.ts'
import { isInterrupted, isTerminal } from '../model/state.ts'
import type { Message, Part, Struct } from '../model/task.ts'
import type { IdempotencyKey, Store } from '../stores/store.ts'
import { checkSend } from './check.ts'
import type { AgentEntry, CallContext, EngineLimits } from './contract.ts'
import { fingerprint, hiddenFingerprint, isOfMessage } from './fingerprint.ts'
import type { Live } from './live.ts'
import { DuplicateMessage } from './append-refusals.ts'
import { passing } from './passing.ts'
import type { Registry } from './registry.ts'
import type { TurnInput } from './turn-input.ts'
import { createReplies } from './replies.ts'
import { createRoom } from './room.ts'
import type { Run } from './run.ts'
import { hideSecrets } from './secrets.ts'
import * as steps from './steps.ts'

export type Accepted =
  | { readonly reply: Message }
  /** `submittedSeq`: this message opened the task, and that is where its stream begins. */
  | { readonly live: Live; readonly submittedSeq?: number; readonly repeated?: true }

export interface AcceptParts {
  readonly store: Store
  readonly registry: Registry
  readonly limits: EngineLimits
  now(): number
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
  const replies = createReplies(parts.now)
  const room = createRoom(parts.store, parts.limits.tasksPerCaller)

  return async function accept(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
  ): Promise<Accepted> {
    checkSend(request, entry, parts.limits)
    const { caller, tenant, agent } = context
    const { duplicateWindowMs } = entry.options
    // Without a window a message is known by an id that nobody can send again.
    const messageId = duplicateWindowMs > 0 ? request.message.messageId : newId()
    const key = JSON.stringify([caller.id, tenant, agent, messageId])
    // As it came: what an extension made of it may differ from time to time.
    const received = context.received ?? request.message
    const hash = fingerprint(received)
    const known = underway.get(key) ?? replies.get(key)
    if (known !== undefined) {
      checkSame(known.hash, received)
      return 'reply' in known ? { reply: known.reply } : repeat(await known.accepted)
    }
    const idempotency = { key, hash, expiresAt: parts.now() + duplicateWindowMs }
    const accepted = take(request, context, entry, idempotency)
    underway.set(key, { hash, accepted })
    try {
      const result = await accepted
      if ('reply' in result) replies.add(key, { hash, reply: result.reply, expiresAt: idempotency.expiresAt })
      return result
    } finally {
      underway.delete(key)
    }
  }

  async function take(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
    idempotency: IdempotencyKey,
  ): Promise<Accepted> {
    const before = await parts.store.findMessage(idempotency.key, parts.now())
    const received = context.received ?? request.message
    if (before !== undefined) return attach(before, received, context)
    try {
      const { message } = request
      const refers = message.taskId === undefined && message.referenceTaskIds !== undefined
      const taskId = refers ? await findByToolResult(message, context) : message.taskId
      return taskId === undefined
        ? await openTask(request, context, entry, idempotency)
        : await continueTask(taskId, request, context, entry, idempotency)
    } catch (reason) {
      if (reason instanceof DuplicateMessage) return attach(reason, received, context)
      throw reason
    }
  }

  async function attach(
    before: { readonly taskId: string; readonly hash: string },
    message: Message,
    context: CallContext,
  ): Promise<Accepted> {
    checkSame(before.hash, message)
    return { live: await parts.findOwn(before.taskId, context), repeated: true }
  }

  async function openTask(
    request: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
    idempotency: IdempotencyKey,
  ): Promise<Accepted> {
    if (entry.isLeaving === true) throw noSuchAgent()
    const entered = room.enter(context.tenant, context.caller.id)
    const leave = typeof entered === 'function' ? entered : await entered
    const now = parts.now()
    const id = newId(now)
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
    const stored = { ...request.message, taskId: id, contextId }
    const message = hideSecrets(stored, false)
    try {
      const run = parts.startRun(live, entry, {
        message,
        options: turnOptions(request, context),
        turn: 1,
        attempt: 1,
        consumedSeq: 1,
        opening: {
          idempotency: message === stored ? idempotency : hidden(idempotency, request, context),
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
    idempotency: IdempotencyKey,
  ): Promise<Accepted> {
    const live = await parts.findOwn(taskId, context)
    if (entry.isLeaving === true && !parts.runs(live)) throw leaving(taskId)
    const { contextId } = live.fold
    const { message } = request
    if (message.contextId !== undefined && message.contextId !== contextId) {
      throw invalidParams([{ field: 'message.contextId', description: 'is not the context of that task' }])
    }
    const stored = { ...message, taskId, contextId }
    const { state, message: question } = live.fold.status
    const kept = hideSecrets(stored, isInterrupted(state) && asksForSecret(question))
    const isSecret = kept !== stored
    const key = isSecret ? hidden(idempotency, request, context) : idempotency
    const deliver = steps.deliver(kept, turnOptions(request, context), key, entry.options)
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

  /**
   * Some clients answer a tool call with a new message that only refers to the task. It continues that task if it
   * refers to exactly one that waits for just this answer.
   */
  async function findByToolResult(message: Message, context: CallContext): Promise<string | undefined> {
    const answered = message.parts.flatMap(toolResultIds)
    if (answered.length === 0 || message.referenceTaskIds === undefined) return undefined
    const waiting: string[] = []
    for (const id of message.referenceTaskIds.slice(0, 10)) {
      const live = await parts.findOwn(id, context).catch(() => undefined)
      const asked = live?.fold.status
      if (asked?.state !== 'TASK_STATE_INPUT_REQUIRED' || asked.message === undefined) continue
      if (openRequests(asked.message).some((request) => answered.includes(request))) waiting.push(id)
    }
    return waiting.length === 1 ? waiting[0] : undefined
  }
}

function repeat(accepted: Accepted): Accepted {
  return 'reply' in accepted ? accepted : { live: accepted.live, repeated: true }
}

function hidden(idempotency: IdempotencyKey, { message }: SendMessageRequest, context: CallContext): IdempotencyKey {
  return { ...idempotency, hash: hiddenFingerprint(context.received ?? message) }
}

function checkSame(before: string, message: Message): void {
  if (isOfMessage(before, message)) return
  throw new A2AError('MESSAGE_ID_REUSED', 'message.messageId was used for another message', {
    violations: [{ field: 'message.messageId', description: 'was used for another message' }],
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

function toolResultIds(part: Part): string[] {
  const about = part.metadata?.[clientToolsExtension] as Struct | undefined
  if (about?.['type'] !== 'tool-result' || !('data' in part)) return []
  const id = (part.data as Struct | null)?.['toolUseId']
  return typeof id === 'string' ? [id] : []
}

/** The ids of what a question asks for: an input request, or calls of tools that run at the client. */
function openRequests(message: Message): string[] {
  const about = message.metadata?.[clientToolsExtension] as Struct | undefined
  const request = about?.['inputRequest'] as Struct | undefined
  const calls = message.parts.map((part) => ('data' in part ? (part.data as Struct | null)?.['toolUseId'] : undefined))
  return [request?.['requestId'], ...calls].filter((id) => typeof id === 'string')
}

/** The same answer whether it is not there or not the caller's (B-160). */
export function checkOwner(live: Live | undefined, id: string, context: CallContext): Live {
  const { tenant, agent, owner } = live?.partition ?? {}
  if (live === undefined || !live.opened) throw taskNotFound(id)
  if (owner !== context.caller.id || agent !== context.agent || tenant !== context.tenant) throw taskNotFound(id)
  return live
}
