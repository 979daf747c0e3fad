/** Makes an agent of a framework, exported by a module, an agent of the hub. Each adapter is loaded when a module needs it. */
import type { Agent } from '@parley/a2a'
import { type AdapterOptions, importInstalled, type FrameworkName, type ModelUsage } from '@parley/a2a/internal'
import type { AgentServices } from '../kind.ts'

/** For people, and the entry point of the adapter. */
export const frameworkTitles: Readonly<Record<FrameworkName, string>> = {
  'ai-sdk': 'the AI SDK',
  langgraph: 'LangGraph',
  mastra: 'Mastra',
  'openai-agents': 'the OpenAI Agents SDK',
}

/** `file` is the module: packages are imported as it would import them. */
export async function adaptFramework(
  framework: FrameworkName,
  value: unknown,
  file: string,
  services: Pick<AgentServices, 'guardedFetch' | 'cost'>,
): Promise<Agent> {
  const options = adapterOptions(services)
  switch (framework) {
    case 'ai-sdk': {
      const { fromAiSdk } = await import('@parley/a2a/adapters/ai-sdk')
      return fromAiSdk(value as never, options)
    }
    case 'langgraph': {
      const { fromLangGraph, langGraphSerializer } = await import('@parley/a2a/adapters/langgraph')
      return fromLangGraph(value as never, { ...options, serializer: await langGraphSerializer(file) })
    }
    case 'mastra': {
      const { fromMastra } = await import('@parley/a2a/adapters/mastra')
      return fromMastra(value as never, options)
    }
    case 'openai-agents': {
      const { fromOpenAIAgents } = await import('@parley/a2a/adapters/openai-agents')
      const { Runner, RunState } = await importOpenAIAgents(file)
      return fromOpenAIAgents(value as never, { ...options, Runner: Runner as never, RunState: RunState as never })
    }
  }
}

/** The agent may be of the whole package or of its core. */
function importOpenAIAgents(file: string): Promise<Readonly<Record<string, unknown>>> {
  return importInstalled('@openai/agents', file).catch(() => importInstalled('@openai/agents-core', file))
}

function adapterOptions({ guardedFetch, cost }: Pick<AgentServices, 'guardedFetch' | 'cost'>): AdapterOptions {
  return {
    fetch: (request) => guardedFetch(request),
    ...(cost !== undefined ? { cost: (model, usage) => cost(model, tokenUsage(usage)) } : {}),
  }
}

function tokenUsage({ inputTokens = 0, outputTokens = 0, cachedTokens, reasoningTokens }: ModelUsage) {
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...(cachedTokens !== undefined ? { cachedTokens } : {}),
    ...(reasoningTokens !== undefined ? { reasoningTokens } : {}),
  }
}
