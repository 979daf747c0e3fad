/** The tools of a turn, each under a name that the model may use and no other has. */
import { z } from 'zod'
import type { Struct, Turn } from '@parley/a2a'
import type { ChatTool } from '../chat-model.ts'
import type { Tool, ToolSource } from './tool.ts'
import { parseBoundedJson } from '../../bounded-json.ts'

export interface Toolbox {
  readonly chatTools: readonly ChatTool[]
  find(name: string): Tool | undefined
  readonly names: readonly string[]
  /** Some cannot be reached now. */
  readonly isIncomplete: boolean
}

/** What is not there now is left out of this turn, and the model told so. */
export async function openToolbox(sources: readonly ToolSource[], turn: Turn): Promise<Toolbox> {
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
  const byName = named(found.flat())
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

/** In the order of the configuration, so that a name means the same after a restart. */
export function named(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>()
  for (const tool of tools) {
    const plain = tool.name.replaceAll(/[^\w-]+/g, '_').slice(0, 60)
    let name = plain === '' ? 'tool' : plain
    for (let count = 2; byName.has(name); count += 1) name = `${plain}_${count}`
    byName.set(name, tool)
  }
  return byName
}

/** What the model wants a tool to be called with, or what is wrong with it in words that it understands. */
export function readInput(text: string, schema: Struct): { readonly input: Struct } | { readonly wrong: string } {
  const parsed = parse(text)
  if (parsed === undefined) return { wrong: 'The arguments are no JSON object.' }
  try {
    const { error } = z.fromJSONSchema(schema).safeParse(parsed)
    return error === undefined ? { input: parsed } : { wrong: `The arguments do not fit. ${z.prettifyError(error)}` }
  } catch {
    // A schema that our checker cannot read: the tool checks for itself.
    return { input: parsed }
  }
}

function parse(text: string): Struct | undefined {
  try {
    // Models leave them out where there are none.
    const value: unknown = parseBoundedJson(text.trim() === '' ? '{}' : text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Struct) : undefined
  } catch {
    return undefined
  }
}
