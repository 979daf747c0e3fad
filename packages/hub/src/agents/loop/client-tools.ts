/**
 * Tools that run at the client, which lists them with its messages (S2-13, S2-14). The model calls them like any other
 * tool.
 */
import { isStruct, clientToolsExtension as uri, type Json, type Message, type Turn } from '@parley/a2a'
import { isToolAllowed } from '../mcp/server.ts'
import { readableName } from '@parley/a2a/server'
import type { LoopTool, ToolSource } from './tool.ts'

/** Maximum number of client tools that the model sees. */
const maxTools = 64

export function clientTools(allow: readonly string[] | undefined): ToolSource {
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
