/** The tools of a turn, each under a unique name that the model may use. */
import type { Struct, Turn } from '@parley/a2a'
import { isStruct } from '@parley/a2a/internal'
import { z } from 'zod'
import type { ChatTool } from '../chat-model.ts'
import type { LoopTool, ToolSource } from './tool.ts'
import { parseJsonOrUndefined } from '../../json/embedded-json.ts'

export interface Toolbox {
  readonly chatTools: readonly ChatTool[]
  find(name: string): LoopTool | undefined
  readonly names: readonly string[]
  /** Some sources cannot be reached now. */
  readonly isIncomplete: boolean
}

/** Sources that are unavailable are left out of this turn, and the model is informed of it. */
export async function createToolbox(sources: readonly ToolSource[], turn: Turn): Promise<Toolbox> {
  let isIncomplete = false
  const found = await Promise.all(
    sources.map(async (source) => {
      try {
        return await source.tools(turn)
      } catch (reason) {
        turn.signal.throwIfAborted()
        turn.log.warn('tools cannot be reached', { tools: source.label, cause: reason })
        isIncomplete = true
        return []
      }
    }),
  )
  const byName = withUniqueNames(found.flat())
  return {
    chatTools: [...byName].map(([name, { description, inputSchema }]) => ({
      name,
      description,
      parameters: inputSchema,
    })),
    find: (name) => byName.get(name),
    names: [...byName.keys()],
    isIncomplete,
  }
}

/** In the order of the configuration, so that names are the same after a restart. */
export function withUniqueNames(tools: readonly LoopTool[]): ReadonlyMap<string, LoopTool> {
  const byName = new Map<string, LoopTool>()
  for (const tool of tools) {
    const plain = tool.name.replaceAll(/[^\w-]+/g, '_').slice(0, 60)
    let name = plain === '' ? 'tool' : plain
    for (let count = 2; byName.has(name); count += 1) name = `${plain}_${count}`
    byName.set(name, tool)
  }
  return byName
}

/** Parses the input that the model wants to call a tool with, or explains the error to the model. */
export function parseToolInput(text: string, schema: Struct): { readonly input: Struct } | { readonly wrong: string } {
  // Models omit arguments if there are none.
  const parsed = parseJsonOrUndefined(text.trim() === '' ? '{}' : text)
  if (!isStruct(parsed)) return { wrong: 'The arguments are not a JSON object.' }
  try {
    const { error } = z.fromJSONSchema(schema).safeParse(parsed)
    return error === undefined ? { input: parsed } : { wrong: `The arguments are invalid. ${z.prettifyError(error)}` }
  } catch {
    // Our validator cannot read the schema: the tool validates for itself.
    return { input: parsed }
  }
}
