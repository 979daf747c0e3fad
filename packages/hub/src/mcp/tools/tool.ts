/** A tool of the MCP server: its description for clients, and its function for validated input. */
import type {
  Tool as ListedTool,
  ToolAnnotations,
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
} from '@modelcontextprotocol/server'
import { A2AError, type Violation, type AgentLog } from '@parley/a2a'
import { z } from 'zod'
import type { AgentDirectory } from '../directory/agent-directory.ts'
import type { ToolProgress } from './tool-progress.ts'

export interface McpServerTool {
  readonly definition: ListedTool
  /** Whether it is available only to callers who may choose addresses. */
  readonly needsRemote: boolean
  /** Whether it may run as an MCP task. */
  readonly canRunAsTask: boolean
  /** The skill that the tool calls. */
  readonly skill?: string | undefined
  /** Throws A2AError; INVALID_PARAMS for input that does not match the schema. */
  run(input: unknown, call: McpToolCall): Promise<McpToolResult>
}

export interface McpToolDefinition<Input extends z.ZodType> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Input
  readonly output?: z.ZodType
  readonly annotations: ToolAnnotations
  readonly needsRemote?: boolean
  readonly canRunAsTask?: boolean
  readonly skill?: string | undefined
  run(input: z.output<Input>, call: McpToolCall): Promise<McpToolResult>
}

export function defineTool<Input extends z.ZodType>(definition: McpToolDefinition<Input>): McpServerTool {
  const { name, title, description, input, output, annotations, needsRemote = false, canRunAsTask = false } = definition
  return {
    definition: {
      name,
      title,
      description,
      inputSchema: schemaOf(input, 'input'),
      ...(output === undefined ? {} : { outputSchema: schemaOf(output, 'output') }),
      annotations: { title, ...annotations },
      ...(canRunAsTask ? { execution: { taskSupport: 'optional' as const } } : {}),
    },
    needsRemote,
    canRunAsTask,
    skill: definition.skill,
    async run(given, call) {
      const read = input.safeParse(given ?? {})
      if (!read.success) throw invalidInput(read.error)
      return definition.run(read.data, call)
    },
  }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): ListedTool['inputSchema'] {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return made as ListedTool['inputSchema']
}

function invalidInput({ issues }: z.ZodError): A2AError {
  const violations = issues.map(({ path, message }): Violation => ({ field: path.join('.'), description: message }))
  const words = violations.map(({ field, description }) => (field === '' ? description : `${field}: ${description}`))
  return new A2AError('INVALID_PARAMS', words.join('; '), { violations })
}

export interface McpServerSettings {
  /** `skills`: adds a tool for each skill of each agent. */
  readonly tools: 'agents' | 'skills'
  /** Default time that a tool waits for an agent. */
  readonly waitMs: number
}

/** What a tool knows of its call, whatever the transport and version of MCP. */
export interface McpToolCall {
  readonly directory: AgentDirectory
  readonly settings: McpServerSettings
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal
  /** Whether the client canceled it: a lost connection cancels nothing (B-103). */
  isStopped(): boolean
  readonly log: AgentLog
  /** What the client can be asked for. Undefined for a client without a session. */
  readonly capabilities: ClientCapabilities | undefined
  /** W3C Trace Context of the request. */
  readonly traceparent: string | undefined
  /** Creates a progress reporter if the client requested progress. */
  progress(): ToolProgress | undefined
  /** The question to the user and the answer, if the call is repeated with it. */
  readonly elicitationAnswer:
    | { readonly state: unknown; readonly responses: Readonly<Record<string, unknown>> }
    | undefined
}

export type McpToolResult = CallToolResult | InputRequiredResult
