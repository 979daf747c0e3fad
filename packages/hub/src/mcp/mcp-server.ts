/**
 * The agents of a directory as an MCP server: the same tools for every transport and every version of MCP. The tools and
 * the agents that they reach are determined for each request and its caller.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type CallToolRequestParams,
  type CallToolResult,
  type ClientCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { A2AError, type AgentLog } from '@parley/a2a'
import { traceIdOf } from '@parley/a2a/internal'
import { discoverAgent, listAgents } from './tools/agent-tools.ts'
import { artifactTemplates, readArtifact } from './tools/artifact-uri.ts'
import type { McpServerSettings, McpToolCall, McpToolResult, McpServerTool } from './tools/tool.ts'
import type { AgentDirectory } from './directory/agent-directory.ts'
import { registerMcpTasks } from './tools/mcp-tasks.ts'
import { invokeRemoteAgent, sendMessage } from './tools/message-tools.ts'
import { createToolProgress } from './tools/tool-progress.ts'
import { skillTools } from './tools/skill-tools.ts'
import { cancelTask, getTask } from './tools/task-tools.ts'
import { hubVersion } from '../config/hub-version.ts'

export interface McpServerDeps {
  /** The directory of the caller of this request. */
  directory(context: ServerContext): AgentDirectory
  readonly settings: McpServerSettings
  /** Whether the client disconnected from a call that it can only cancel that way. */
  hasLeft?(context: ServerContext): boolean
  /** Called before a call that may take long. Returns the release function. Throws RATE_LIMITED. */
  acquireCall?(context: ServerContext): () => void
  readonly log: AgentLog
}

const tools: readonly McpServerTool[] = [listAgents, discoverAgent, sendMessage, invokeRemoteAgent, getTask, cancelTask]
const names = tools.map(({ definition }) => definition.name)

const instructions =
  'Agents that do work for you. list_agents lists them, send_message calls one of them. Long-running work continues ' +
  'when a call ends: get_task waits for it. An agent may ask a question: answer with send_message and the same taskId.'

/** Creates a server for one connection, or for one request of a client without a session. */
export function createMcpServer(deps: McpServerDeps): McpServer {
  const { log } = deps
  const mcp = new McpServer(identity, { capabilities, instructions })
  const { server } = mcp

  server.setRequestHandler('tools/list', (_request, context) =>
    withProtocolErrors(async () => {
      const found = await toolsFor(deps.directory(context), deps.settings, context.mcpReq.signal)
      return { tools: found.map(({ definition }) => definition) }
    }),
  )
  server.setRequestHandler('tools/call', ({ params }, context) =>
    withCall(context, async (call) => {
      const tool = await findTool(params.name, call)
      if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${params.name}`)
      return run(tool, params, call)
    }),
  )
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...artifactTemplates] }))
  server.setRequestHandler('resources/read', ({ params }, context) =>
    withCall(context, (call) => readArtifact(params.uri, call)),
  )
  const tasks = registerMcpTasks(server, withCall)
  return mcp

  function callOf(context: ServerContext): McpToolCall {
    const { mcpReq } = context
    const { _meta: meta = {} } = mcpReq
    const { progressToken: token } = meta
    const { traceparent = context.http?.req?.headers.get('traceparent') } = meta as { readonly traceparent?: unknown }
    const state = mcpReq.requestState()
    return {
      directory: deps.directory(context),
      settings: deps.settings,
      signal: mcpReq.signal,
      isStopped: () => isStopped(mcpReq.signal, deps.hasLeft?.(context) ?? false),
      log,
      capabilities: capabilitiesIn(context) ?? server.getClientCapabilities(),
      traceparent: typeof traceparent === 'string' && traceIdOf(traceparent) !== undefined ? traceparent : undefined,
      progress() {
        if (token === undefined) return undefined
        return createToolProgress((progress, message) =>
          mcpReq.notify({ method: 'notifications/progress', params: { progressToken: token, progress, message } }),
        )
      },
      elicitationAnswer: state === undefined ? undefined : { state, responses: mcpReq.inputResponses ?? {} },
    }
  }

  /** A failure of an agent is a result for the model, not a protocol error, unless the client requested an MCP task. */
  async function run(
    tool: McpServerTool,
    { arguments: input, task }: CallToolRequestParams,
    call: McpToolCall,
  ): Promise<McpToolResult> {
    if (task !== undefined && tool.canRunAsTask) return tasks.begin(tool, input, call)
    try {
      return await tool.run(input, call)
    } catch (reason) {
      // A canceled call gets no result.
      if (call.signal.aborted) throw reason
      return toolErrorResult(reason, log)
    }
  }

  function withCall<T>(context: ServerContext, work: (call: McpToolCall) => Promise<T>): Promise<T> {
    return withProtocolErrors(async () => {
      const leave = deps.acquireCall?.(context)
      try {
        return await work(callOf(context))
      } finally {
        leave?.()
      }
    })
  }

  /** Internal errors go to the log, because the client would show their text. */
  async function withProtocolErrors<T>(work: () => Promise<T>): Promise<T> {
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

/** The same code as in A2A responses of this hub. */
const rateLimited = -32_092
const identity = { name: 'parley', title: 'Parley', version: hubVersion() }
const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: false },
  tasks: { requests: { tools: { call: {} } }, cancel: {} },
}

async function toolsFor(
  directory: AgentDirectory,
  settings: McpServerSettings,
  signal: AbortSignal,
): Promise<readonly McpServerTool[]> {
  const own = tools.filter(({ needsRemote }) => !needsRemote || directory.remote !== undefined)
  return settings.tools === 'agents' ? own : [...own, ...skillTools(await directory.agents(signal), names)]
}

async function findTool(
  name: string,
  { directory, settings, signal }: McpToolCall,
): Promise<McpServerTool | undefined> {
  const isOwn = names.includes(name)
  const found = isOwn
    ? await toolsFor(directory, { ...settings, tools: 'agents' }, signal)
    : await toolsFor(directory, settings, signal)
  return found.find(({ definition }) => definition.name === name)
}

function toolErrorResult(reason: unknown, log: AgentLog): CallToolResult {
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

/** The capabilities in the request itself, if each request carries them. */
function capabilitiesIn({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
}
