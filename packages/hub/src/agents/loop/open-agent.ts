/** Opens an agent of the kind `loop`. Loaded with the first of them. */
import { readableName, skillOfTool, isStruct } from '@parley/a2a/internal'
import { clientTools as clientToolsExtension } from '@parley/a2a/server'
import type { PartialCard, AgentServices, OpenAgent } from '../kind.ts'
import { loopAgent } from './agent.ts'
import { type LoopEntry, type ToolEntry } from './entry.ts'
import type { ToolSource, LoopTool } from './tool.ts'
import { functionTools } from './function-tools.ts'
import { agentTool } from './agent-tool.ts'
import { clientToolsExtension as uri, type Json, type Message, type Turn, type Struct } from '@parley/a2a'
import { isToolAllowed, type McpServerEntry } from '../mcp/server.ts'
import type { Tool as McpTool } from '@modelcontextprotocol/client'
import { openMcpBackend, type McpBackendDeps } from '../mcp/backend.ts'
import { partsOfResult } from '../mcp/content.ts'
import { answerElicitation } from '../mcp/elicit.ts'
import { traceMeta } from '../call-spans.ts'

export async function openLoopAgent(entry: LoopEntry, services: AgentServices): Promise<OpenAgent> {
  const sources = await Promise.all(entry.tools.map(async (tool) => sourceOf(tool, entry, services)))
  const system = [services.persona, entry.system].filter((text) => text !== undefined)
  const model = (): ReturnType<AgentServices['model']> => services.model(entry.model)
  const agent = loopAgent(entry, {
    model,
    system: system.length > 0 ? system.join('\n\n') : undefined,
    sources,
    inProcessClient: services.inProcessClient,
    monotonicNow: services.monotonicNow,
  })
  const callsClients = entry.tools.some((tool) => 'client' in tool)
  return {
    agent,
    card: { outputModes: ['text/plain', 'application/octet-stream'], streaming: true },
    ...(callsClients ? { extensions: [clientToolsExtension()] } : {}),

    /** Lists the tools as skills (S0-26, S0-28). A server that is down does not hide the others. */
    async fetchCard(signal): Promise<PartialCard> {
      const found = await Promise.allSettled(sources.map((source) => source.skills(signal)))
      for (const [index, one] of found.entries())
        if (one.status === 'rejected')
          services.log.warn('tools cannot be listed', { tools: sources[index]?.label, cause: one.reason as unknown })
      const skills = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
      if (skills.length === 0 && found.some(({ status }) => status === 'rejected'))
        throw new Error('none of the tools can be listed')
      const inputModes = model()?.inputModes
      return {
        outputModes: ['text/plain', 'application/octet-stream'],
        streaming: true,
        ...(skills.length > 0 ? { skills } : {}),
        ...(inputModes !== undefined ? { inputModes } : {}),
      }
    },

    async health(signal) {
      const used = model()
      if (used === undefined) throw new Error(`unknown model ${entry.model}`)
      await used.health?.(signal).catch((cause: unknown) => {
        throw new Error(`its model, the agent ${entry.model}, cannot be used`, { cause })
      })
    },

    async close() {
      await Promise.all(sources.map(async (source) => source.close?.()))
    },
  }
}

function sourceOf(tool: ToolEntry, entry: LoopEntry, services: AgentServices): ToolSource | Promise<ToolSource> {
  if ('agent' in tool) {
    const { agent, description, timeout = Infinity } = tool
    return agentTool({ agent, description, timeoutMs: timeout }, services.inProcessClient, services.now)
  }
  if ('client' in tool) return clientTools(tool.client === true ? undefined : tool.client.allow)
  const { timeout: timeoutMs = entry.toolTimeout } = tool
  if ('mcp' in tool) return mcpTools(tool.mcp, timeoutMs, services)
  return functionTools({ path: tool.module, baseDir: services.baseDir, allow: tool.allow, timeoutMs })
}

/** Maximum number of client tools that the model sees. */
const maxTools = 64

/**
 * Tools that run at the client, which lists them with its messages (S2-13, S2-14). The model calls them like any other
 * tool.
 */
function clientTools(allow: readonly string[] | undefined): ToolSource {
  return {
    label: 'the tools of the client',
    async tools(turn) {
      const listed = toolsIn(turn.message) ?? (await earlierTools(turn)) ?? []
      return listed
        .flatMap(toolOf)
        .filter(({ name }) => isToolAllowed(name, allow))
        .slice(0, maxTools)
    },
    // They belong to the client, not to the agent.
    skills: async () => [],
  }
}

/** An answer need not list them again. */
async function earlierTools(turn: Turn): Promise<readonly Json[] | undefined> {
  const history = await turn.history()
  return history
    .toReversed()
    .map(toolsIn)
    .find((tools) => tools !== undefined)
}

function toolsIn({ role, metadata }: Message): readonly Json[] | undefined {
  const about = metadata?.[uri]
  const tools = role === 'ROLE_USER' && isStruct(about) ? about['tools'] : undefined
  return Array.isArray(tools) ? tools : undefined
}

function toolOf(given: Json): LoopTool[] {
  if (!isStruct(given) || typeof given['name'] !== 'string' || given['name'] === '') return []
  const { name, description, inputSchema } = given
  const title = readableName(name)
  return [
    {
      name,
      title,
      description: typeof description === 'string' ? description.slice(0, 1_000) : title,
      inputSchema: isStruct(inputSchema) ? inputSchema : { type: 'object' },
      timeoutMs: Infinity,
    },
  ]
}

/** The tools of an MCP server, with one connection per conversation. */
function mcpTools(entry: McpServerEntry, timeoutMs: number, deps: McpBackendDeps): ToolSource {
  const backend = openMcpBackend(entry, deps)
  const allowed = (tools: readonly McpTool[]): readonly McpTool[] =>
    tools.filter(({ name }) => isToolAllowed(name, entry.allow, entry.deny))

  return {
    label: `the tools of ${backend.label}`,

    async tools(turn) {
      const listed = await backend.use(turn, (connection) => connection.tools(turn.signal))
      return allowed(listed).map(toolOf)
    },

    async skills(signal) {
      const listed = await backend.inspect((connection) => connection.tools(signal))
      return allowed(listed).map((tool) => skillOfTool(tool, 'mcp'))
    },

    close: () => backend.close(),
  }

  function toolOf({ name, title, description, inputSchema }: McpTool): LoopTool {
    return {
      name,
      title: title ?? readableName(name),
      description: description ?? title ?? readableName(name),
      inputSchema: inputSchema as Struct,
      timeoutMs,
      async run(input, { turn, signal, span, progress, ask }) {
        const result = await backend.use(turn, (connection) =>
          connection.call(name, input, {
            signal,
            trace: traceMeta(span, turn.tracestate),
            // The loop has its own timeout, which pauses while the user is asked.
            timeoutMs: Infinity,
            onProgress: ({ message, progress: done, total }) =>
              progress(message ?? (total === undefined ? String(done) : `${done} of ${total}`)),
            onElicit: (question) => answerElicitation(question, ask),
          }),
        )
        return { parts: partsOfResult(result), ...(result.isError === true ? { isError: true } : {}) }
      },
    }
  }
}
