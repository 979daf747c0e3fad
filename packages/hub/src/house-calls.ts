/**
 * Calls between the agents of this hub: real tasks of this process's own engine, without a wire between. A child belongs to
 * the agent that calls, on behalf of whoever called that: nobody else finds it, and its caller's rights go along.
 */
import { A2AError, newId } from '@parley/a2a'
import type { AgentCard, Caller, Message, SendMessageRequest, StreamEvent, Turn } from '@parley/a2a'
import type { AgentSettings, CallContext, Engine } from '@parley/a2a/server'
import type { House, HouseCall } from './agents/kind.ts'

export interface HouseCallsParts {
  /** When the hub has started. */
  engine(): Promise<Engine>
  /** What is known of an agent that is there. */
  settings(agent: string): AgentSettings | undefined
  /** Throws AGENT_UNAVAILABLE for one that is there and not open. */
  requireOpen(agent: string): void
  /** Whether the caller may use the agent, and which of its skills if not all. */
  admitted(caller: Caller, agent: string): { readonly skills?: readonly string[] } | undefined
  /** Where the agent is reached. */
  url(agent: string): string
}

/** How many agents may call one another in a row. */
const deepest = 8
const onBehalf = /^agent:[^|]*\|/

/** The house as the agent of that name sees it. */
export function createHouseCalls(parts: HouseCallsParts, name: string): House {
  return {
    async card(agent, { caller }) {
      const settings = parts.settings(agent)
      const isFor = parts.admitted(caller, agent) !== undefined
      return settings === undefined || !isFor ? undefined : cardOf(agent, settings, parts.url(agent))
    },

    async *stream(call: HouseCall): AsyncGenerator<StreamEvent> {
      const engine = await parts.engine()
      const message = messageOf(call)
      const context = contextOf(call.agent, call.turn, message)
      parts.requireOpen(call.agent)
      yield* parts.settings(call.agent)?.streaming === false
        ? answered(engine, { message }, context)
        : streamed(engine, { message }, context)
    },

    async cancel(agent, taskId, turn) {
      const engine = await parts.engine()
      return engine.cancelTask({ id: taskId }, contextOf(agent, turn))
    },
  }

  /** Throws what a stranger would get: one that the caller may not use is not there. */
  function contextOf(agent: string, turn: Turn, message?: Message): CallContext {
    const { caller, signal, tenant } = turn
    const admitted = parts.settings(agent) === undefined ? undefined : parts.admitted(caller, agent)
    if (admitted === undefined) throw new A2AError('AGENT_UNAVAILABLE', `There is no agent ${agent} here`)
    if (message !== undefined) checkSkills(admitted.skills, message)
    const id = `agent:${name}|${caller.id}`
    if (depthOf(id) > deepest) {
      throw new A2AError('UNSUPPORTED_OPERATION', `More than ${deepest} agents call one another in a row`)
    }
    const { scopes } = caller
    const child: Caller = { id, tenant, ...(scopes !== undefined ? { scopes } : {}), ...admitted }
    return { agent, tenant, caller: child, signal, extensions: [], mayList: false }
  }
}

async function* streamed(engine: Engine, request: SendMessageRequest, context: CallContext) {
  for await (const items of await engine.streamMessage(request, context)) for (const { event } of items) yield event
}

async function* answered(engine: Engine, request: SendMessageRequest, context: CallContext) {
  yield await engine.sendMessage(request, context)
}

function depthOf(id: string): number {
  return onBehalf.test(id) ? 1 + depthOf(id.replace(onBehalf, '')) : 0
}

/** A caller who may use some skills only has to say which one is meant, through other agents as well. */
function checkSkills(skills: readonly string[] | undefined, { metadata }: Message): void {
  const skillId = metadata?.['skillId']
  if (skills === undefined || (typeof skillId === 'string' && skills.includes(skillId))) return
  throw new A2AError('PERMISSION_DENIED', 'The caller may use some skills of that agent only, and this is none of them')
}

function messageOf({ message, taskId, contextId, turn }: HouseCall): Message {
  return {
    ...message,
    messageId: newId(),
    role: 'ROLE_USER',
    ...(taskId !== undefined ? { taskId } : {}),
    ...(contextId !== undefined ? { contextId } : {}),
    referenceTaskIds: [...new Set([turn.task.id, ...(message.referenceTaskIds ?? [])])],
  }
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
