/**
 * How a message becomes work: it opens a task, continues one, or is recognized as a repeat. The same for a send and for a stream.
 */
import type { CheckMessage } from '../../agents/agent.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError, invalidParams, taskNotFound, type Violation } from '../../model/error.ts'
import { newId } from '../../model/id.ts'
import type { SendMessageRequest } from '../../model/operation.ts'
import type { TurnOptions } from '../../model/record.ts'
import { hideSecrets } from '../../model/secrets.ts'
import { isTerminal } from '../../model/state.ts'
import type { Json, Message, Part, Struct } from '../../model/task.ts'
import type { IdempotencyKey, Store, TaskStore } from '../../stores/store.ts'
import type { AgentEntry, CallContext, EngineLimits } from '../contract.ts'
import { DuplicateMessage, type LoadedTask } from '../task/loaded-task.ts'
import { type MessageClaims, createDirectReplies } from './message-claims.ts'
import { InFlightMap } from '../in-flight-map.ts'
import type { TaskCache } from '../task/task-cache.ts'
import type { TurnInput } from '../turn/turn-runner.ts'
import type { TaskRun } from '../turn/task-run.ts'
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

// The open tasks of one caller, and of callers with the same `limitedAs` together. The store is asked only when the last count no longer
// guarantees a free place. Calls whose task is not in the log yet are counted here, so that one count does not admit many concurrent
// calls.

interface OwnerQuota {
  /** The callers whose tasks count. Those that did not call yet are unknown: the store has no `limitedAs`. */
  readonly callers: Set<string>
  /** How many more calls may be admitted before the store must be asked again. */
  available: number
  /** Admitted calls whose task is not open yet. */
  pending: number
  counting: Promise<void> | undefined
}

/** For how many callers without calls in flight a count is remembered. */
const maxOwners = 1_000

export interface OpenTaskQuota {
  /** Rejects with RATE_LIMITED if the quota is used up. Call the returned function once the task is open, or never will be. */
  reserve(tenant: string, caller: Caller): (() => void) | Promise<() => void>
}

export function createOpenTaskQuota(tasks: Pick<TaskStore, 'countActive'>, tasksPerCaller: number): OpenTaskQuota {
  const owners = new Map<string, OwnerQuota>()

  return {
    reserve(tenant, { id, limitedAs = id }) {
      if (!Number.isFinite(tasksPerCaller)) return () => {}
      const owner = ownerOf(JSON.stringify([tenant, limitedAs]), limitedAs)
      if (!owner.callers.has(id)) {
        owner.callers.add(id)
        // Its tasks are not in the last count.
        owner.available = 0
      }
      return owner.available > 0 ? grant(owner) : countAndGrant(owner, tenant)
    },
  }

  function grant(owner: OwnerQuota): () => void {
    owner.available -= 1
    owner.pending += 1
    return () => void (owner.pending -= 1)
  }

  async function countAndGrant(owner: OwnerQuota, tenant: string): Promise<() => void> {
    await (owner.counting ??= count(owner, tenant))
    if (owner.available > 0) return grant(owner)
    throw new A2AError('RATE_LIMITED', `At most ${tasksPerCaller} unfinished tasks per caller`, {
      retryAfterSeconds: '5',
    })
  }

  function ownerOf(key: string, caller: string): OwnerQuota {
    const known = owners.get(key)
    if (known !== undefined) return known
    if (owners.size >= maxOwners) forgetIdle()
    const owner: OwnerQuota = { callers: new Set([caller]), available: 0, pending: 0, counting: undefined }
    owners.set(key, owner)
    return owner
  }

  function forgetIdle(): void {
    for (const [key, { pending, counting }] of owners) if (pending === 0 && counting === undefined) owners.delete(key)
  }

  async function count(owner: OwnerQuota, tenant: string): Promise<void> {
    // Read it first: a task that opens meanwhile may be counted twice, but never zero times.
    const { pending } = owner
    let active = 0
    try {
      // One that calls meanwhile is counted, too.
      for (const caller of owner.callers) active += await tasks.countActive(tenant, caller)
      owner.available = tasksPerCaller - pending - active
    } finally {
      owner.counting = undefined
    }
  }
}

// A request is addressed to the agent by a user, within the limits, in media types that the agent accepts. The codec of the version has
// checked the shapes; the checks here need the agent, or are the same for all versions.

export function validateSendRequest(request: SendMessageRequest, entry: AgentEntry, limits: EngineLimits): void {
  const { message, configuration, metadata } = request
  const violations = [
    ...checkRole(message),
    ...checkParts(message.parts, limits),
    ...checkDepth('message.metadata', message.metadata, limits.metadataDepth),
    ...checkDepth('metadata', metadata, limits.metadataDepth),
  ]
  if (violations.length > 0) throw invalidParams(violations)
  checkContextId(message.contextId)
  checkInputModes(message.parts, entry.inputModes)
  checkOutputModes(configuration?.acceptedOutputModes ?? [], entry.outputModes)
}

function checkRole({ role }: Message): Violation[] {
  return role === 'ROLE_USER'
    ? []
    : [{ field: 'message.role', description: 'must be the user: an agent does not send to itself' }]
}

function checkParts(parts: readonly Part[], limits: EngineLimits): Violation[] {
  if (parts.length > limits.parts)
    return [{ field: 'message.parts', description: `must not be more than ${limits.parts}` }]
  const violations: Violation[] = []
  parts.forEach((part, index) => {
    const field = `message.parts[${index}]`
    if ('url' in part && !isWebUrl(part.url))
      violations.push({ field: `${field}.url`, description: 'must be an absolute http(s) URL' })
    if ('data' in part) violations.push(...checkDepth(`${field}.data`, part.data, limits.metadataDepth))
    if (part.metadata !== undefined)
      violations.push(...checkDepth(`${field}.metadata`, part.metadata, limits.metadataDepth))
  })
  return violations
}

function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url)
}

function checkDepth(field: string, value: Json | undefined, max: number): Violation[] {
  return isNestedDeeper(value, max) ? [{ field, description: `must not be nested deeper than ${max} levels` }] : []
}

/** Descends at most `levels`, however deep the value is. Allocates nothing: a list of the values took six times as long. */
function isNestedDeeper(value: Json | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) if (isNestedDeeper(item, levels - 1)) return true
    return false
  }
  const fields = value as Struct
  for (const key in fields) if (isNestedDeeper(fields[key], levels - 1)) return true
  return false
}

/** B-56: an unacceptable context is rejected, never replaced. */
function checkContextId(contextId: string | undefined): void {
  if (contextId === undefined || /^[\w.:-]{1,256}$/.test(contextId)) return
  const description = 'must be 1 to 256 letters, digits or . : _ -'
  throw new A2AError('CONTEXT_REJECTED', `message.contextId ${description}`, {
    violations: [{ field: 'message.contextId', description }],
  })
}

/** B-70. */
function checkInputModes(parts: readonly Part[], modes: readonly string[]): void {
  if (modes.length === 0) return
  parts.forEach((part, index) => {
    const mediaType = mediaTypeOf(part)
    if (modes.some((mode) => matchesMediaType(mode, mediaType))) return
    throw new A2AError(
      'CONTENT_TYPE_NOT_SUPPORTED',
      `Incompatible content types: ${mediaType} is not supported by this agent`,
      {
        mediaType,
        partKind: 'text' in part ? 'text' : 'data' in part ? 'data' : 'file',
        supported: modes.join(', '),
        violations: [
          { field: `message.parts[${index}]`, description: `is ${mediaType}, which this agent does not accept` },
        ],
      },
    )
  })
}

/** B-69, for an agent that requires it: it produces no media type that the caller accepts, so nothing starts. */
function checkOutputModes(accepted: readonly string[], modes: readonly string[]): void {
  if (accepted.length === 0 || modes.length === 0) return
  if (accepted.some((wanted) => modes.some((mode) => matchesMediaType(wanted, mode) || matchesMediaType(mode, wanted))))
    return
  throw new A2AError(
    'CONTENT_TYPE_NOT_SUPPORTED',
    `Incompatible content types: not supported, this agent answers in ${modes.join(', ')}`,
    {
      supported: modes.join(', '),
      violations: [{ field: 'configuration.acceptedOutputModes', description: 'lists no output mode of this agent' }],
    },
  )
}

function mediaTypeOf(part: Part): string {
  if (part.mediaType !== undefined && part.mediaType !== '') return part.mediaType
  if ('text' in part) return 'text/plain'
  return 'data' in part ? 'application/json' : 'application/octet-stream'
}

/** Kinds of parts, which are no media types, but which many agents declare in place of them. */
const partKinds: ReadonlyMap<string, string> = new Map([
  ['text', 'text/*'],
  ['file', '*/*'],
  ['data', 'application/json'],
  ['json', 'application/json'],
])

/** Supports wildcards; ignores parameters and case. */
function matchesMediaType(pattern: string, mediaType: string): boolean {
  const wanted = normalizedMediaType(pattern)
  const given = normalizedMediaType(mediaType)
  if (wanted === given || wanted === '*/*' || wanted === '*') return true
  return wanted.endsWith('/*') && given.startsWith(wanted.slice(0, -1))
}

function normalizedMediaType(mode: string): string {
  const mediaType = (mode.split(';', 1)[0] as string).trim().toLowerCase()
  return partKinds.get(mediaType) ?? mediaType
}
