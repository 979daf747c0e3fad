/**
 * The agent directory of one request at `/mcp`: the hub's own agents as the caller may see them, and remote agents if the
 * caller may choose addresses.
 */
import { A2AError, type Caller, type ErrorCode } from '@parley/a2a'
import {
  type Admit,
  type OnOutcome,
  omitUndefined,
  type Operation,
  type HandlerCall,
  type ResponseMemory,
} from '@parley/a2a/internal'
import type { AgentSettings, AuthenticatedCall, Call } from '@parley/a2a/server'
import type { AgentProfile, AgentDirectory, DirectoryAgent } from './agent-directory.ts'
import { createLocalAgent } from './local-agent.ts'

export interface LocalDirectoryDeps {
  readonly handlerCall: HandlerCall
  readonly admit: Admit
  readonly onOutcome: OnOutcome
  /** The names of all agents, regardless of permissions. */
  names(): readonly string[]
  agentSettings(agent: string): AgentSettings | undefined
  /** Whether it accepts messages now. */
  isOpen(agent: string): boolean
  /** The URL of the agent. */
  url(agent: string): string
  /** What the caller may use of an agent: everything, unless skills are listed. Undefined if it may not use the agent. */
  admitted(caller: Caller, agent: string): { readonly skills?: readonly string[] } | undefined
}

export interface LocalDirectoryRequest {
  /** The request of the MCP client. */
  readonly call: AuthenticatedCall
  /** The same request as a call of one agent. */
  callOf(agent: string): Call
  /** Of the response to the MCP client. */
  readonly memory: ResponseMemory
  /** Set if the caller may make the hub call addresses of its choice. */
  readonly remote?: AgentDirectory['remote']
}

export function createLocalDirectory(
  deps: LocalDirectoryDeps,
  { call, callOf, memory, remote }: LocalDirectoryRequest,
): AgentDirectory {
  const { caller } = call
  return {
    async agents() {
      return deps.names().flatMap((name) => profileOf(deps, caller, name) ?? [])
    },
    async agent(name) {
      const profile = profileOf(deps, caller, name)
      const { handlerCall } = deps
      if (profile === undefined) return rejectUnknownAgent(handlerCall, callOf(name))
      const streams = deps.agentSettings(name)?.streaming !== false
      return createLocalAgent({ agent: name, call, profile, streams, handlerCall, memory: memory.part() })
    },
    ...(remote !== undefined ? { remote: withRateLimit(remote) } : {}),
  }

  function withRateLimit(reach: NonNullable<AgentDirectory['remote']>): NonNullable<AgentDirectory['remote']> {
    return async (url, signal) => {
      await countRequest(deps.admit, call)
      return withAudit(await reach(url, signal), url, call, deps.onOutcome)
    }
  }
}

/** Counts a request that calls no agent of the hub. Throws RATE_LIMITED. */
export async function countRequest(admit: Admit, call: AuthenticatedCall): Promise<void> {
  const { refuse } = await admit(call)
  if (refuse?.code === 'RATE_LIMITED') throw refuse
}

/** Undefined for an agent that does not exist or that this caller may not use. */
function profileOf(deps: LocalDirectoryDeps, caller: Caller, name: string): AgentProfile | undefined {
  const settings = deps.agentSettings(name)
  const admitted = settings === undefined ? undefined : deps.admitted(caller, name)
  if (settings === undefined || admitted === undefined) return undefined
  const { description = '', version = '1.0.0', provider, documentationUrl, skills = [] } = settings
  const { skills: only } = admitted
  return {
    name,
    title: settings.name ?? name,
    description,
    version,
    url: deps.url(name),
    skills: only === undefined ? skills : skills.filter(({ id }) => only.includes(id)),
    inputModes: settings.inputModes ?? [],
    outputModes: settings.outputModes ?? [],
    ...(provider !== undefined ? { provider: provider.organization } : {}),
    ...omitUndefined({ documentationUrl }),
    isAvailable: deps.isOpen(name),
  }
}

/** A request for an unknown agent is counted and audited like any other call, and always gets the same error (B-153). */
async function rejectUnknownAgent(handlerCall: HandlerCall, request: Call): Promise<never> {
  await handlerCall('GetExtendedAgentCard', {}, { agent: request.agent, request }).catch((reason: unknown) => {
    // A caller above its rate limit gets that error, whatever it requests.
    if (reason instanceof A2AError && reason.code === 'RATE_LIMITED') throw reason
  })
  throw new A2AError('AGENT_UNAVAILABLE', 'Unknown agent: call list_agents for the available ones')
}

/** A remote agent called on behalf of a caller: calls are written to the audit log, like those of the hub's own agents. */
function withAudit(agent: DirectoryAgent, url: string, call: AuthenticatedCall, onOutcome: OnOutcome): DirectoryAgent {
  async function withAuditRecord<T>(operation: Operation, work: Promise<T>): Promise<T> {
    const began = performance.now()
    const end = (outcome: 'OK' | ErrorCode): void =>
      onOutcome({
        ...call,
        agent: nameOf(url),
        operation,
        outcome,
        status: 200,
        durationMs: performance.now() - began,
      })
    try {
      const result = await work
      end('OK')
      return result
    } catch (reason) {
      end(A2AError.from(reason).code)
      throw reason
    }
  }

  return {
    profile: agent.profile,
    ref: agent.ref,
    send: (message, options) => withAuditRecord('SendStreamingMessage', agent.send(message, options)),
    start: (message, options) => withAuditRecord('SendMessage', agent.start(message, options)),
    follow: (taskId, options) => withAuditRecord('SubscribeToTask', agent.follow(taskId, options)),
    get: (taskId, historyLength, signal) => withAuditRecord('GetTask', agent.get(taskId, historyLength, signal)),
    cancel: (taskId, signal) => withAuditRecord('CancelTask', agent.cancel(taskId, signal)),
  }
}

/** The address without credentials and query. */
function nameOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
