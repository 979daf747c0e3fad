/**
 * Calls between the agents of this hub: real tasks of this process's own engine, without a wire between. A child belongs to
 * the agent that calls, on behalf of whoever called that: nobody else finds it, and its caller's rights go along.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { A2AError, hasSettled, newId } from '@parley/a2a'
import type { AgentCard, Caller, Message, SendMessageRequest, StreamEvent, Turn } from '@parley/a2a'
import type { AgentSettings, CallContext, Engine } from '@parley/a2a/server'
import type { House, HouseCall, OnBehalf } from './agents/kind.ts'
import { provenanceOf } from './delegation/chain.ts'
import type { Delegation } from './delegation/delegation.ts'

export interface HouseCallsParts {
  /** When the hub has started. */
  engine(): Promise<Engine>
  names(): readonly string[]
  /** What is known of an agent that is there. */
  settings(agent: string): AgentSettings | undefined
  /** Throws AGENT_UNAVAILABLE for one that is there and not open. */
  requireOpen(agent: string): void
  /** Whether the caller may use the agent, and which of its skills if not all. */
  admitted(caller: Caller, agent: string): { readonly skills?: readonly string[] } | undefined
  /** Counts one more call of the agent. Throws RATE_LIMITED if that is one too many. */
  takeCall(agent: string): void
  /** Where the agent is reached. */
  url(agent: string): string
  /** For how long the hub recognises a message that comes again. 0: not at all. */
  idempotencyWindowMs(): number
  now(): number
  readonly delegation: Pick<Delegation, 'hop' | 'token' | 'isOnTheWay'>
}

/** How often an agent that does not stream is asked for its task. */
const pollMs = 500

/** The house as the agent of that name sees it. */
export function createHouseCalls(parts: HouseCallsParts, name: string): House {
  const { delegation } = parts

  return {
    async card(agent, { caller }) {
      return cardFor(agent, caller)
    },

    async agents(turn) {
      const others = parts.names().filter((agent) => agent !== name && !delegation.isOnTheWay(turn, agent))
      return others.flatMap((agent) => {
        const card = cardFor(agent, turn.caller)
        return card === undefined ? [] : [{ name: agent, card }]
      })
    },

    async *stream(call) {
      const windowMs = parts.idempotencyWindowMs()
      if (call.sentAt !== undefined && parts.now() - call.sentAt >= windowMs) throw mayBeAtWork(call.agent)
      const engine = await parts.engine()
      const message = messageOf(call)
      const context = await contextFor(call, message)
      const request = requestOf(call, message)
      if (isStreaming(call.agent)) yield* streamed(engine, request, context)
      else if (windowMs > 0) yield* answered(engine, request, context)
      else yield* openedAndPolled(engine, request, context)
    },

    async *subscribe(agent, taskId, turn) {
      const engine = await parts.engine()
      const context = ownContext(agent, turn)
      if (isStreaming(agent)) yield* eventsOf(await engine.subscribe({ id: taskId }, context, 'replay'))
      else yield* polled(engine, taskId, context)
    },

    async task(agent, taskId, turn) {
      return (await parts.engine()).getTask({ id: taskId }, ownContext(agent, turn))
    },

    async cancel(agent, taskId, turn) {
      return (await parts.engine()).cancelTask({ id: taskId }, ownContext(agent, turn))
    },

    onward: (turn, { card, messageId }) => delegation.token(turn, { from: name, card, messageId }),
  }

  function cardFor(agent: string, caller: Caller): AgentCard | undefined {
    const settings = parts.settings(agent)
    const isFor = parts.admitted(caller, agent) !== undefined
    return settings === undefined || !isFor ? undefined : cardOf(agent, settings, parts.url(agent))
  }

  function isStreaming(agent: string): boolean {
    return parts.settings(agent)?.streaming !== false
  }

  /** Throws what a stranger would get: an agent that the caller may not use is not there. */
  async function contextFor(call: HouseCall, message: Message): Promise<CallContext> {
    const { agent, turn, deadlineAt, traceparent = turn.traceparent, isInstead } = call
    const { caller, tenant } = turn
    const admitted = parts.settings(agent) === undefined ? undefined : parts.admitted(caller, agent)
    if (admitted === undefined) throw new A2AError('AGENT_UNAVAILABLE', `There is no agent ${agent} here`)
    checkSkills(admitted.skills, message)
    parts.requireOpen(agent)
    parts.takeCall(agent)
    const chain = await delegation.hop(turn, { from: name, to: agent, messageId: message.messageId, deadlineAt })
    const { scopes } = caller
    const own = ownContext(agent, turn)
    const child: Caller = { ...own.caller, tenant, ...(scopes !== undefined ? { scopes } : {}), ...admitted }
    return {
      ...own,
      caller: child,
      extensions: isInstead === true ? turn.extensions : [],
      traceparent,
      ...(turn.tracestate !== undefined ? { tracestate: turn.tracestate } : {}),
      ...(chain.deadlineAt !== undefined ? { deadlineAt: chain.deadlineAt } : {}),
      provenance: provenanceOf(chain),
    }
  }

  /** For what is already there: it is its owner's to look at and to end, whatever the caller may by now. */
  function ownContext(agent: string, { caller, tenant, signal = new AbortController().signal }: OnBehalf): CallContext {
    const owner: Caller = { id: `agent:${name}|${caller.id}`, tenant }
    return { agent, tenant, caller: owner, signal, extensions: [], mayList: false }
  }
}

function streamed(engine: Engine, request: SendMessageRequest, context: CallContext): AsyncGenerator<StreamEvent> {
  return eventsOf(engine.streamMessage(request, context))
}

async function* eventsOf(stream: ReturnType<Engine['subscribe']> | Awaited<ReturnType<Engine['subscribe']>>) {
  for await (const items of await stream) for (const { event } of items) yield event
}

/** Where the same message once more would be a second one. */
async function* openedAndPolled(engine: Engine, request: SendMessageRequest, context: CallContext) {
  const answer = await engine.sendMessage(request, context)
  yield answer
  if ('task' in answer && !hasSettled(answer.task.status.state)) yield* polled(engine, answer.task.id, context)
}

/** The same message once more is no second one, and waits until there is something to be told. */
async function* answered(engine: Engine, request: SendMessageRequest, context: CallContext) {
  const { configuration: _, ...waiting } = request
  for (let asked = request; ; asked = waiting) {
    const answer = await engine.sendMessage(asked, context)
    yield answer
    if (!('task' in answer) || hasSettled(answer.task.status.state)) return
  }
}

async function* polled(engine: Engine, taskId: string, context: CallContext): AsyncGenerator<StreamEvent> {
  for (;;) {
    const task = await engine.getTask({ id: taskId }, context)
    yield { task }
    if (hasSettled(task.status.state)) return
    await sleep(pollMs, undefined, { signal: context.signal })
  }
}

/** It was on its way when a process went down, and would not be recognised any more. */
function mayBeAtWork(agent: string): A2AError {
  const message = `The call of ${agent} was interrupted, and is too old to be repeated. It may be at work on it.`
  // Not INTERRUPTED, after which a route asks another agent: then two may do the work.
  return new A2AError('TASK_FAILED', message, { reason: 'INTERRUPTED' })
}

/** A caller who may use some skills only has to say which one is meant, through other agents as well. */
function checkSkills(skills: readonly string[] | undefined, { metadata }: Message): void {
  const skillId = metadata?.['skillId']
  if (skills === undefined || (typeof skillId === 'string' && skills.includes(skillId))) return
  throw new A2AError('PERMISSION_DENIED', 'The caller may use some skills of that agent only, and this is none of them')
}

function messageOf({ message, messageId = newId(), taskId, contextId, turn }: HouseCall): Message {
  return {
    ...message,
    messageId,
    role: 'ROLE_USER',
    ...(taskId !== undefined ? { taskId } : {}),
    ...(contextId !== undefined ? { contextId } : {}),
    referenceTaskIds: [...new Set([turn.task.id, ...(message.referenceTaskIds ?? [])])],
  }
}

/** Always a task, so that there is one to come back to: also of an agent that would answer with a message alone (S4-21). */
function requestOf({ turn, isInstead }: HouseCall, message: Message): SendMessageRequest {
  const modes = isInstead === true ? turn.acceptedOutputModes : []
  return {
    message,
    configuration: { returnImmediately: true, ...(modes.length > 0 ? { acceptedOutputModes: modes } : {}) },
    ...(isInstead === true && !isEmpty(turn.metadata) ? { metadata: turn.metadata } : {}),
  }
}

function isEmpty(metadata: Turn['metadata']): boolean {
  return Object.keys(metadata).length === 0
}

/** As whoever asks outside is shown it, without what is only said there: signatures and how to prove who one is. */
function cardOf(agent: string, settings: AgentSettings, url: string): AgentCard {
  const { name = agent, provider, documentationUrl, iconUrl, skills } = settings
  const description = settings.description || `${name}, an A2A agent`
  const any = ['text/plain', 'application/json', 'application/octet-stream']
  return {
    name,
    description,
    version: settings.version ?? '1.0.0',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: settings.streaming ?? true },
    defaultInputModes: settings.inputModes ?? any,
    defaultOutputModes: settings.outputModes ?? any,
    skills: skills?.length ? skills : [{ id: 'default', name, description, tags: ['general'] }],
    ...(provider !== undefined ? { provider } : {}),
    ...(documentationUrl !== undefined ? { documentationUrl } : {}),
    ...(iconUrl !== undefined ? { iconUrl } : {}),
  }
}
