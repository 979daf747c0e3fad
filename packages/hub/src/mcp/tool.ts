/** A tool of the bridge: what its client is told of it, and what it does with input that has been checked. */
import type { Tool as ListedTool, ToolAnnotations } from '@modelcontextprotocol/server'
import { A2AError } from '@parley/a2a'
import type { Violation } from '@parley/a2a'
import { z } from 'zod'
import type { ToolCall, ToolResult } from './call.ts'

export interface Tool {
  readonly listed: ListedTool
  /** Whether it is there only for who may have addresses called. */
  readonly needsRemote: boolean
  /** Whether it may be run as a task of MCP's own. */
  readonly takesTasks: boolean
  /** The one that is meant by it. */
  readonly skill?: string | undefined
  /** Throws A2AError; INVALID_PARAMS for input that is not as the schema says. */
  run(input: unknown, call: ToolCall): Promise<ToolResult>
}

export interface ToolDefinition<Input extends z.ZodType> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Input
  readonly output?: z.ZodType
  readonly annotations: ToolAnnotations
  readonly needsRemote?: boolean
  readonly takesTasks?: boolean
  readonly skill?: string | undefined
  run(input: z.output<Input>, call: ToolCall): Promise<ToolResult>
}

export function defineTool<Input extends z.ZodType>(definition: ToolDefinition<Input>): Tool {
  const { name, title, description, input, output, annotations, needsRemote = false, takesTasks = false } = definition
  return {
    listed: {
      name,
      title,
      description,
      inputSchema: schemaOf(input, 'input'),
      ...(output === undefined ? {} : { outputSchema: schemaOf(output, 'output') }),
      annotations: { title, ...annotations },
      ...(takesTasks ? { execution: { taskSupport: 'optional' as const } } : {}),
    },
    needsRemote,
    takesTasks,
    skill: definition.skill,
    async run(given, call) {
      const read = input.safeParse(given ?? {})
      if (!read.success) throw invalid(read.error)
      return definition.run(read.data, call)
    },
  }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): ListedTool['inputSchema'] {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return made as ListedTool['inputSchema']
}

function invalid({ issues }: z.ZodError): A2AError {
  const violations = issues.map(({ path, message }): Violation => ({ field: path.join('.'), description: message }))
  const words = violations.map(({ field, description }) => (field === '' ? description : `${field}: ${description}`))
  return new A2AError('INVALID_PARAMS', words.join('; '), { violations })
}
