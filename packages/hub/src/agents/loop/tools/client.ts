/** Tools that run at the client, as it lists them with its messages (S2-13, S2-14): the model may call them like any other. */
import { clientToolsExtension as uri } from '@parley/a2a'
import type { Json, Message, Struct, Turn } from '@parley/a2a'
import { isAllowed } from '../../mcp/server.ts'
import { readableName } from '@parley/a2a/server'
import type { Tool, ToolSource } from '../tool.ts'

/** So many of a client's tools a model is told of. */
const maxTools = 64

export function clientTools(allow: readonly string[] | undefined): ToolSource {
  return {
    label: 'the tools of the client',
    async tools(turn) {
      const listed = toolsIn(turn.message) ?? (await earlierList(turn)) ?? []
      return listed
        .flatMap(toolOf)
        .filter(({ name }) => isAllowed(name, allow))
        .slice(0, maxTools)
    },
    // They are the client's, not the agent's.
    skills: async () => [],
  }
}

/** An answer need not list them again. */
async function earlierList(turn: Turn): Promise<readonly Json[] | undefined> {
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

function toolOf(given: Json): Tool[] {
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

function isStruct(value: Json | undefined): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
