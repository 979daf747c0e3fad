/**
 * The agents of a desk as an MCP server: the same tools for every transport and every version of MCP. Which tools there are
 * and what they reach is asked anew for each request, for whoever sent it.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/server'
import type {
  CallToolRequestParams,
  CallToolResult,
  ClientCapabilities,
  ServerContext,
} from '@modelcontextprotocol/server'
import { A2AError, traceIdOf } from '@parley/a2a'
import type { AgentLog } from '@parley/a2a'
import { discoverAgent, listAgents } from './agent-tools.ts'
import { artifactTemplates } from './artifact-uri.ts'
import type { BridgeSettings, ToolCall, ToolResult } from './call.ts'
import type { Desk } from './desk.ts'
import { addTasks } from './mcp-tasks.ts'
import { invokeRemoteAgent, sendMessage } from './message-tools.ts'
import { createProgress } from './progress.ts'
import { readArtifact } from './read-artifact.ts'
import { skillTools } from './skill-tools.ts'
import { cancelTask, getTask } from './task-tools.ts'
import type { Tool } from './tool.ts'

export interface BridgeParts {
  /** Whose request it is. */
  desk(context: ServerContext): Desk
  readonly settings: BridgeSettings
  /** Whether the client has left a call that it can only end by leaving. */
  hasLeft?(context: ServerContext): boolean
  /** Asked before a call that may take long. Throws RATE_LIMITED; answers what to do when it is over. */
  hold?(context: ServerContext): () => void
  readonly log: AgentLog
}

const tools: readonly Tool[] = [listAgents, discoverAgent, sendMessage, invokeRemoteAgent, getTask, cancelTask]
const names = tools.map(({ listed }) => listed.name)

const instructions =
  'Agents that do work for you. list_agents says which there are, send_message asks one of them. Work that takes long goes ' +
  'on when a call ends: get_task waits for it. An agent may ask back: answer with send_message and the same taskId.'

/** For one connection, or for one request of clients that keep none. */
export function createBridge(parts: BridgeParts): McpServer {
  const { log } = parts
  const mcp = new McpServer(identity, { capabilities, instructions })
  const { server } = mcp

  server.setRequestHandler('tools/list', (_request, context) =>
    safely(async () => {
      const found = await toolsFor(parts.desk(context), parts.settings, context.mcpReq.signal)
      return { tools: found.map(({ listed }) => listed) }
    }),
  )
  server.setRequestHandler('tools/call', ({ params }, context) =>
    attended(context, async (call) => {
      const tool = await findTool(params.name, call)
      if (tool === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}`)
      return run(tool, params, call)
    }),
  )
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...artifactTemplates] }))
  server.setRequestHandler('resources/read', ({ params }, context) =>
    attended(context, (call) => readArtifact(params.uri, call)),
  )
  const tasks = addTasks(server, attended)
  return mcp

  function callOf(context: ServerContext): ToolCall {
    const { mcpReq } = context
    const { _meta: meta = {} } = mcpReq
    const { progressToken: token } = meta
    const { traceparent = context.http?.req?.headers.get('traceparent') } = meta as { readonly traceparent?: unknown }
    const state = mcpReq.requestState()
    return {
      desk: parts.desk(context),
      settings: parts.settings,
      signal: mcpReq.signal,
      isStopped: () => isStopped(mcpReq.signal, parts.hasLeft?.(context) ?? false),
      log,
      capabilities: capabilitiesIn(context) ?? server.getClientCapabilities(),
      traceparent: typeof traceparent === 'string' && traceIdOf(traceparent) !== undefined ? traceparent : undefined,
      progress() {
        if (token === undefined) return undefined
        return createProgress((progress, message) =>
          mcpReq.notify({ method: 'notifications/progress', params: { progressToken: token, progress, message } }),
        )
      },
      answered: state === undefined ? undefined : { state, responses: mcpReq.inputResponses ?? {} },
    }
  }

  /** What goes wrong with an agent is for the model to read, and no error of the protocol; unless a task was asked for. */
  async function run(
    tool: Tool,
    { arguments: input, task }: CallToolRequestParams,
    call: ToolCall,
  ): Promise<ToolResult> {
    if (task !== undefined && tool.takesTasks) return tasks.begin(tool, input, call)
    try {
      return await tool.run(input, call)
    } catch (reason) {
      // Whoever stopped the call is told nothing.
      if (call.signal.aborted) throw reason
      return failureOf(reason, log)
    }
  }

  function attended<T>(context: ServerContext, work: (call: ToolCall) => Promise<T>): Promise<T> {
    return safely(async () => {
      const leave = parts.hold?.(context)
      try {
        return await work(callOf(context))
      } finally {
        leave?.()
      }
    })
  }

  /** What an error of ours says is for the log: the client would be shown its words. */
  async function safely<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (reason) {
      if (reason instanceof ProtocolError) throw reason
      const { code, message, cause } = A2AError.from(reason)
      if (code === 'RATE_LIMITED') throw new ProtocolError(rateLimited, message)
      if (code !== 'INTERNAL') throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
      log.error('the MCP bridge failed', { cause: cause ?? reason })
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error')
    }
  }
}

/** As A2A says it here. */
const rateLimited = -32_092
const identity = { name: 'parley', title: 'Parley', version: '0.1.0' }
const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: false },
  tasks: { requests: { tools: { call: {} } }, cancel: {} },
}

async function toolsFor(desk: Desk, settings: BridgeSettings, signal: AbortSignal): Promise<readonly Tool[]> {
  const own = tools.filter(({ needsRemote }) => !needsRemote || desk.remote !== undefined)
  return settings.tools === 'agents' ? own : [...own, ...skillTools(await desk.agents(signal), names)]
}

async function findTool(name: string, { desk, settings, signal }: ToolCall): Promise<Tool | undefined> {
  const isOwn = names.includes(name)
  const found = isOwn
    ? await toolsFor(desk, { ...settings, tools: 'agents' }, signal)
    : await toolsFor(desk, settings, signal)
  return found.find(({ listed }) => listed.name === name)
}

function failureOf(reason: unknown, log: AgentLog): CallToolResult {
  const error = A2AError.from(reason)
  if (error.code === 'INTERNAL') log.error('a tool of the MCP bridge failed', { cause: error.cause ?? error })
  const { retryAfterSeconds } = error.details
  const later = typeof retryAfterSeconds === 'string' ? ` Try again in ${retryAfterSeconds} seconds.` : ''
  return { content: [{ type: 'text', text: `${error.message} (${error.code}).${later}` }], isError: true }
}

function isStopped({ aborted, reason }: AbortSignal, hasLeft: boolean): boolean {
  const isLost = reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed
  return aborted && (!isLost || hasLeft)
}

/** Of the request itself, where each brings them along. */
function capabilitiesIn({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
}
