/** The kind `loop`: a model of this hub with tools. */
import { resolve } from 'node:path'
import { clientTools as clientToolsExtension } from '@parley/a2a/server'
import type { AgentKind, PartialCard, AgentServices, OpenAgent } from '../kind.ts'
import { loopAgent } from './agent.ts'
import { loopEntry, type LoopEntry, type ToolEntry } from './entry.ts'
import type { ToolSource } from './tool.ts'
import { clientTools } from './client-tools.ts'
import { functionTools } from './function-tools.ts'
import { agentTool } from './agent-tool.ts'
import { mcpTools } from './mcp-tools.ts'

export const loopKind: AgentKind<LoopEntry> = {
  kind: 'loop',
  openAfterMs: 0,
  schema: loopEntry,
  open,
  // One turn may need several answers and several tools.
  turnTimeoutMs: 900_000,
  files: ({ tools }, baseDir) => tools.flatMap((tool) => ('module' in tool ? [resolve(baseDir, tool.module)] : [])),
}

async function open(entry: LoopEntry, services: AgentServices): Promise<OpenAgent> {
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

    async health() {
      if (model() === undefined) throw new Error(`unknown model ${entry.model}`)
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
