/** What can be called at a server: tools, and, if the operator enables them, prompts and the reading of resources. */
import type { CallToolResult, Prompt, Tool } from '@modelcontextprotocol/client'
import type { AgentSkill, Part, Struct, Json } from '@parley/a2a'
import { isStruct, readableName, skillOfTool, schemaFields, requiredFields } from '@parley/a2a/internal'
import { matchesPattern } from '../name-pattern.ts'
import type { McpCallOptions, McpConnection } from './connection.ts'
import { partOfResource, partsOfContent, partsOfResult } from './content.ts'
import { type McpEntry, isToolAllowed } from './server.ts'

export interface Callable {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Struct
  /** One of `tool`, `prompt`, `resource`. */
  readonly type: string
  /** Whether a second call does no harm. */
  readonly isRepeatable: boolean
  call(connection: McpConnection, input: Struct, options: McpCallOptions): Promise<CallableResult>
}

export interface CallableResult {
  readonly parts: readonly Part[]
  readonly isError: boolean
}

type CallableFilter = Pick<McpEntry, 'allow' | 'deny' | 'prompts' | 'resources'>

/** Lists what can be called at the server now. */
export async function listCallables(
  connection: McpConnection,
  wanted: CallableFilter,
  signal: AbortSignal,
): Promise<readonly Callable[]> {
  const [tools, prompts] = await Promise.all([
    connection.tools(signal),
    wanted.prompts.length > 0 ? connection.prompts(signal) : [],
  ])
  const found = [
    ...tools
      .filter((tool) => isToolAllowed(tool.name, wanted.allow, wanted.deny) && isCallableDirectly(tool))
      .map(toolCallable),
    ...prompts.filter(({ name }) => isToolAllowed(name, wanted.prompts)).map(promptCallable),
    ...(wanted.resources.length > 0 ? [resourceReader(wanted.resources)] : []),
  ]
  // If a server lists a name twice, the first is the one that it calls.
  return [...new Map(found.toReversed().map((one) => [one.name, one])).values()].toReversed()
}

/** Cards distinguish skills by name, so every tool gets a unique one. */
export function callableSkills(callables: readonly Callable[]): readonly AgentSkill[] {
  const counts = Map.groupBy(callables, ({ title }) => title.trim().toLowerCase())
  return callables.map((one) => {
    const isAmbiguous = (counts.get(one.title.trim().toLowerCase())?.length ?? 0) > 1
    const skill = skillOfTool({ ...one, title: isAmbiguous ? `${one.title} (${one.name})` : one.title }, 'mcp')
    const example = toolExample(one.name, one.inputSchema)
    return {
      ...skill,
      tags: [one.type, ...skill.tags.slice(1)],
      ...(example !== undefined ? { examples: [example] } : {}),
    }
  })
}

/** Tools that only run as MCP tasks, an experiment of one protocol version, cannot be called. */
const isCallableDirectly = ({ execution }: Tool): boolean => execution?.taskSupport !== 'required'

function toolCallable({ name, title, description, inputSchema, annotations = {} }: Tool): Callable {
  const shown = nonBlank(title) ?? nonBlank(annotations.title) ?? readableName(name)
  return {
    name,
    title: shown,
    description: nonBlank(description) ?? shown,
    inputSchema: inputSchema as Struct,
    type: 'tool',
    isRepeatable: annotations.readOnlyHint === true || annotations.idempotentHint === true,
    async call(connection, input, options) {
      return outcomeOf(await connection.call(name, input, options))
    },
  }
}

function outcomeOf(result: CallToolResult): CallableResult {
  return { parts: partsOfResult(result), isError: result.isError === true }
}

function promptCallable({ name, title, description, arguments: fields = [] }: Prompt): Callable {
  const shown = nonBlank(title) ?? readableName(name)
  const properties = fields.map((field) => [field.name, { type: 'string', ...about(field.description) }] as const)
  const required = fields.filter((field) => field.required === true).map((field) => field.name)
  return {
    name: `prompt:${name}`,
    title: shown,
    description: nonBlank(description) ?? shown,
    inputSchema: { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false },
    type: 'prompt',
    isRepeatable: true,
    async call(connection, input, { signal }) {
      const { messages } = await connection.prompt(name, input as Readonly<Record<string, string>>, signal)
      return { parts: partsOfContent(messages.map(({ content }) => content)), isError: false }
    },
  }
}

const uri = { type: 'string', description: 'The URI of the resource, as returned in a result' }

function resourceReader(patterns: readonly string[]): Callable {
  return {
    name: 'read-resource',
    title: 'Read a resource',
    description: 'Reads a resource of this server by its URI',
    inputSchema: { type: 'object', properties: { uri }, required: ['uri'], additionalProperties: false },
    type: 'resource',
    isRepeatable: true,
    async call(connection, input, { signal }) {
      const { uri: address } = input as { readonly uri: string }
      if (!patterns.some((pattern) => matchesPattern(pattern, address))) {
        return { parts: [{ text: `${address} is not an allowed resource` }], isError: true }
      }
      const { contents } = await connection.resource(address, signal)
      return { parts: contents.map(partOfResource), isError: false }
    },
  }
}

const nonBlank = (text: string | undefined): string | undefined => (text?.trim() === '' ? undefined : text)

const about = (description: string | undefined): Struct => (description === undefined ? {} : { description })

/** Longer examples do not help. */
const limit = 200

/** An example call of a tool, for its skill: its name, and each required field with a valid value. */
export function toolExample(name: string, schema: Struct): string | undefined {
  const fields = schemaFields(schema)
  const entries = requiredFields(schema).map((field) => [field, sampleOf(fields[field] ?? {})] as const)
  const text = entries.length === 0 ? `${name}()` : `${name}(${JSON.stringify(Object.fromEntries(entries))})`
  return text.length <= limit ? text : undefined
}

function sampleOf(field: Struct): Json {
  const { type, default: usual, examples, enum: choices } = field
  const [said] = [usual, ...listOf(examples), ...listOf(choices)].filter((value) => value !== undefined)
  if (said !== undefined) return said
  switch (Array.isArray(type) ? type[0] : type) {
    case 'number':
    case 'integer':
      return typeof field['minimum'] === 'number' ? field['minimum'] : 1
    case 'boolean':
      return true
    case 'array':
      return [sampleOf(isStruct(field['items']) ? field['items'] : {})]
    case 'object':
      return Object.fromEntries(requiredFields(field).map((name) => [name, sampleOf(schemaFields(field)[name] ?? {})]))
    default:
      return field['format'] === 'uri' ? 'https://example.com' : 'text'
  }
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])
