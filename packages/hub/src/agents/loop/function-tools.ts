/**
 * Tools that are functions of a file: each export with a `run`, or those in an export `tools`. A JSON Schema or a Zod
 * schema describes their input, which is validated before the call.
 */
import { resolve } from 'node:path'
import type { Json, Message, Part, Struct, Turn } from '@parley/a2a'
import { z } from 'zod'
import { isToolAllowed } from '../mcp/server.ts'
import { loadModule } from '../module/load-module.ts'
import { readableName, skillOfTool } from '@parley/a2a/internal'
import type { LoopTool, LoopToolCall, ToolOutcome, ToolSource } from './tool.ts'

/** What a file exports for each tool. */
export interface FunctionTool {
  /** Default: the name of the export. */
  readonly name?: string
  readonly title?: string
  readonly description?: string
  /** A JSON Schema of an object, or a Zod schema. Default: any object. */
  readonly input?: Struct | z.ZodType
  /** Returns a text, bytes, `{ parts }`, nothing, or any JSON value. The model gets the message of an error that it throws. */
  // A method, so that a tool may declare the type of its input.
  run(input: never, about: FunctionCall): unknown
}

/** What a function gets besides its input. */
export interface FunctionCall {
  readonly id: string
  /** For calls that it makes, so that they join the same trace (W3C Trace Context). */
  readonly traceparent: string
  readonly turn: Turn
  readonly signal: AbortSignal
  progress(text: string): void
  /** Asks the user. */
  ask(question: string): Promise<Message>
}

export interface FunctionToolsOptions {
  readonly path: string
  readonly baseDir: string
  readonly allow: readonly string[] | undefined
  readonly timeoutMs: number
}

export async function functionTools(options: FunctionToolsOptions): Promise<ToolSource> {
  const { path, baseDir, allow, timeoutMs } = options
  const exported = exportedTools(await loadModule(resolve(baseDir, path), path), path)
  const tools = exported.map((given) => toolOf(given, timeoutMs)).filter(({ name }) => isToolAllowed(name, allow))
  return {
    label: `the functions of ${path}`,
    tools: async () => tools,
    skills: async () => tools.map((tool) => skillOfTool(tool, 'function')),
  }
}

function exportedTools(
  module: Readonly<Record<string, unknown>>,
  path: string,
): readonly Required<Pick<FunctionTool, 'name' | 'run'>>[] {
  const listed = module['tools'] ?? module['default']
  const among = typeof listed === 'object' && listed !== null && !isTool(listed) ? listed : module
  const found = Object.entries(among).flatMap(([key, value]) =>
    isTool(value) ? [{ ...value, run: value.run.bind(value), name: value.name ?? key }] : [],
  )
  if (found.length === 0) throw new Error(`${path} exports no tool: export an object { description, input, run }`)
  return found
}

function isTool(value: unknown): value is FunctionTool {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function'
}

function toolOf(given: FunctionTool & { readonly name: string }, timeoutMs: number): LoopTool {
  const { name, title = readableName(name), description = title, input = { type: 'object' } } = given
  const isZod = '_zod' in input
  return {
    name,
    title,
    description,
    inputSchema: isZod ? (z.toJSONSchema(input as z.ZodType, { io: 'input' }) as Struct) : input,
    timeoutMs,
    async run(raw, call) {
      const value = isZod ? await (input as z.ZodType).parseAsync(raw) : raw
      const result: unknown = await given.run(value as never, functionCallOf(call))
      return outcomeOf(result)
    },
  }
}

function functionCallOf({ id, turn, signal, span, progress, ask }: LoopToolCall): FunctionCall {
  return {
    id,
    turn,
    signal,
    traceparent: span.traceparent,
    progress,
    ask: (question) => ask({ parts: [{ text: question }] }),
  }
}

function outcomeOf(result: unknown): ToolOutcome {
  if (result === undefined || result === null) return { parts: [{ text: '' }] }
  if (typeof result === 'string') return { parts: [{ text: result }] }
  if (result instanceof Uint8Array) return { parts: [{ raw: Buffer.from(result).toString('base64') }] }
  if (typeof result === 'object' && 'parts' in result && Array.isArray(result.parts))
    return { parts: result.parts as readonly Part[] }
  // A value that JSON cannot represent is a failure of the tool.
  return { parts: [{ data: JSON.parse(JSON.stringify(result)) as Json }] }
}
