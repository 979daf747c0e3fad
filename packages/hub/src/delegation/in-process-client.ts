/**
 * Calls between the agents of this hub: real tasks of the engine of this process, without the network. A child belongs to the
 * calling agent on behalf of its caller: no other caller finds it, and the permissions of its caller apply.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { A2AError, newId, type AgentCard, type Caller, type Message, type StreamEvent, type Turn } from '@parley/a2a'
import {
  hasSettled,
  cardInfo,
  omitUndefined,
  type SendMessageRequest,
  type HandlerCall,
  type HandlerCallOptions,
  type TaskEventStream,
  newestVersion,
} from '@parley/a2a/internal'
import type { AgentSettings } from '@parley/a2a/server'
import type { InProcessClient, InProcessCall, ParentTurn } from '../agents/kind.ts'
import { provenanceOf } from './chain.ts'
import { delegatedOwner } from './delegated-owner.ts'
import type { Delegation } from './delegation.ts'

export interface InProcessClientDeps {
  /** Resolves when the hub has started. */
  handlerCall(): Promise<HandlerCall>
  names(): readonly string[]
  /** The settings of a registered agent. */
  settings(agent: string): AgentSettings | undefined
  /** Throws AGENT_UNAVAILABLE for an agent that is registered but not open. */
  requireOpen(agent: string): void
  /** Whether the caller may use the agent, and which of its skills if not all. */
  permissionFor(caller: Caller, agent: string): { readonly skills?: readonly string[] } | undefined
  /** Counts one more call of the agent. Throws RATE_LIMITED if the limit is exceeded. */
  countCall(agent: string): void
  /** The URL of the agent. */
  url(agent: string): string
  /** How long the hub recognizes a repeated message. 0: not at all. */
  idempotencyWindowMs(): number
  now(): number
  readonly delegation: Pick<Delegation, 'hop' | 'hopToken' | 'isInChain'>
}

/** The polling interval for an agent that does not stream. */
const pollMs = 500

/** Creates the client for the agent of this name. */
export function createInProcessClient(parts: InProcessClientDeps, name: string): InProcessClient {
  const { delegation } = parts

  return {
    async card(agent, { caller }) {
      return cardFor(agent, caller)
    },

    async agents(turn) {
      const others = parts.names().filter((agent) => agent !== name && !delegation.isInChain(turn, agent))
      return others.flatMap((agent) => {
        const card = cardFor(agent, turn.caller)
        return card === undefined ? [] : [{ name: agent, card }]
      })
    },

    async *stream(call) {
      const windowMs = parts.idempotencyWindowMs()
      if (call.sentAt !== undefined && parts.now() - call.sentAt >= windowMs) throw interruptedCallError(call.agent)
      const perform = await parts.handlerCall()
      const message = childMessage(call)
      const options = await optionsFor(call, message)
      const request = childRequest(call, message)
      if (isStreaming(call.agent)) yield* flattenEvents(await perform('SendStreamingMessage', request, options))
      else if (windowMs > 0) yield* sendUntilSettled(perform, request, options)
      else yield* sendThenPoll(perform, request, options)
    },

    async *subscribe(agent, taskId, turn) {
      const perform = await parts.handlerCall()
      const options = ownerOptions(agent, turn)
      if (isStreaming(agent)) yield* flattenEvents(await perform('SubscribeToTask', { id: taskId }, options))
      else yield* pollTask(perform, taskId, options)
    },

    async task(agent, taskId, turn) {
      return (await parts.handlerCall())('GetTask', { id: taskId }, ownerOptions(agent, turn))
    },

    async cancel(agent, taskId, turn) {
      return (await parts.handlerCall())('CancelTask', { id: taskId }, ownerOptions(agent, turn))
    },

    hopTokenFor: (turn, { card, messageId }) => delegation.hopToken(turn, { from: name, card, messageId }),
  }

  function cardFor(agent: string, caller: Caller): AgentCard | undefined {
    const settings = parts.settings(agent)
    const isAllowed = parts.permissionFor(caller, agent) !== undefined
    return settings === undefined || !isAllowed ? undefined : inProcessCard(agent, settings, parts.url(agent))
  }

  function isStreaming(agent: string): boolean {
    return parts.settings(agent)?.streaming !== false
  }

  /** Throws the same error as for an external caller: an agent that the caller may not use appears not to exist. */
  async function optionsFor(call: InProcessCall, { messageId }: Message): Promise<HandlerCallOptions> {
    const { agent, turn, deadlineAt, traceparent = turn.traceparent, isReplacement } = call
    const { caller, tenant, tracestate } = turn
    const admitted = parts.settings(agent) === undefined ? undefined : parts.permissionFor(caller, agent)
    if (admitted === undefined) throw new A2AError('AGENT_UNAVAILABLE', `Unknown agent ${agent}`)
    parts.requireOpen(agent)
    parts.countCall(agent)
    const chain = await delegation.hop(turn, { from: name, to: agent, messageId, deadlineAt })
    const { scopes } = caller
    const child: Caller = { id: ownerId(caller), tenant, ...(scopes !== undefined ? { scopes } : {}), ...admitted }
    return {
      ...ownerOptions(agent, turn),
      caller: child,
      extensions: isReplacement === true ? turn.extensions : [],
      traceparent,
      tracestate,
      constrain: () => ({
        provenance: provenanceOf(chain),
        ...(chain.deadlineAt !== undefined ? { deadlineAt: chain.deadlineAt } : {}),
      }),
    }
  }

  /** For existing tasks: the owner may read and cancel them, whatever the caller may do now. */
  function ownerOptions(agent: string, turn: ParentTurn): HandlerCallOptions {
    const { caller, tenant, signal } = turn
    const owner: Caller = { id: ownerId(caller), tenant }
    return { agent, caller: owner, partOf: turn, ...(signal !== undefined ? { signal } : {}) }
  }

  function ownerId(caller: Pick<Caller, 'id'>): string {
    return delegatedOwner({ agent: name, owner: caller.id })
  }
}

async function* flattenEvents(stream: TaskEventStream): AsyncGenerator<StreamEvent> {
  for await (const items of stream) for (const { event } of items) yield event
}

/** For agents where a repeated message would be a second one. */
async function* sendThenPoll(perform: HandlerCall, request: SendMessageRequest, options: HandlerCallOptions) {
  const answer = await perform('SendMessage', request, options)
  yield answer
  if ('task' in answer && !hasSettled(answer.task.status.state)) yield* pollTask(perform, answer.task.id, options)
}

/** A repeated message is recognized, and waits until there is a result. */
async function* sendUntilSettled(perform: HandlerCall, request: SendMessageRequest, options: HandlerCallOptions) {
  const { configuration: _, ...blockingRequest } = request
  for (let nextRequest = request; ; nextRequest = blockingRequest) {
    const answer = await perform('SendMessage', nextRequest, options)
    yield answer
    if (!('task' in answer) || hasSettled(answer.task.status.state)) return
  }
}

async function* pollTask(
  perform: HandlerCall,
  taskId: string,
  options: HandlerCallOptions,
): AsyncGenerator<StreamEvent> {
  for (;;) {
    const task = await perform('GetTask', { id: taskId }, options)
    yield { task }
    if (hasSettled(task.status.state)) return
    await sleep(pollMs, undefined, options.signal === undefined ? {} : { signal: options.signal })
  }
}

/** The message was in flight when a process ended, and would not be recognized any more. */
function interruptedCallError(agent: string): A2AError {
  const message = `The call of ${agent} was interrupted and is too old to be repeated. The agent may be working on it.`
  // Not INTERRUPTED, after which a route tries another agent: two agents might then do the work.
  return new A2AError('TASK_FAILED', message, { reason: 'INTERRUPTED' })
}

function childMessage({ message, messageId = newId(), taskId, contextId, turn }: InProcessCall): Message {
  return {
    ...message,
    messageId,
    role: 'ROLE_USER',
    ...omitUndefined({ taskId, contextId }),
    referenceTaskIds: [...new Set([turn.task.id, ...(message.referenceTaskIds ?? [])])],
  }
}

/** Always a task, so that it can be resumed: also for an agent that would reply with a message only (S4-21). */
function childRequest({ turn, isReplacement }: InProcessCall, message: Message): SendMessageRequest {
  const modes = isReplacement === true ? turn.acceptedOutputModes : []
  return {
    message,
    configuration: { returnImmediately: true, ...(modes.length > 0 ? { acceptedOutputModes: modes } : {}) },
    ...(isReplacement === true && !isEmpty(turn.metadata) ? { metadata: turn.metadata } : {}),
  }
}

function isEmpty(metadata: Turn['metadata']): boolean {
  return Object.keys(metadata).length === 0
}

/** The card as external clients see it, without signatures and security schemes. */
function inProcessCard(agent: string, settings: AgentSettings, url: string): AgentCard {
  const { name = agent, skills } = settings
  const description = settings.description || `${name}, an A2A agent`
  const any = ['text/plain', 'application/json', 'application/octet-stream']
  return {
    name,
    description,
    version: settings.version ?? '1.0.0',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: newestVersion }],
    capabilities: { streaming: settings.streaming ?? true },
    defaultInputModes: settings.inputModes ?? any,
    defaultOutputModes: settings.outputModes ?? any,
    skills: skills?.length ? skills : [{ id: 'default', name, description, tags: ['general'] }],
    ...cardInfo(settings),
  }
}
