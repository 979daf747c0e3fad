/**
 * What can be called at a server, whatever the protocol calls it: tools, and, where the operator wants it, prompts and
 * the reading of resources.
 */
import type { CallToolResult, Prompt, Tool } from '@modelcontextprotocol/client'
import type { AgentSkill, Part, Struct } from '@parley/a2a'
import { fitsPattern } from '../name-pattern.ts'
import { readableName, skillOfTool } from '@parley/a2a/server'
import type { McpCallOptions, McpConnection } from './connection.ts'
import { partOfResource, partsOfContent, partsOfResult } from './content.ts'
import type { McpEntry } from './entry.ts'
import { exampleOf } from './example.ts'
import { isAllowed } from './server.ts'

export interface Callable {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: Struct
  /** Of what sort: `tool`, `prompt`, `resource`. */
  readonly sort: string
  /** Whether doing it twice does no harm. */
  readonly isRepeatable: boolean
  call(connection: McpConnection, input: Struct, options: McpCallOptions): Promise<Outcome>
}

export interface Outcome {
  readonly parts: readonly Part[]
  readonly isError: boolean
}

type Wanted = Pick<McpEntry, 'allow' | 'deny' | 'prompts' | 'resources'>

/** What may be called, as the server has it now. */
export async function callablesOf(
  connection: McpConnection,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<readonly Callable[]> {
  const [tools, prompts] = await Promise.all([
    connection.tools(signal),
    wanted.prompts.length > 0 ? connection.prompts(signal) : [],
  ])
  const found = [
    ...tools.filter((tool) => isAllowed(tool.name, wanted.allow, wanted.deny) && isPlain(tool)).map(toolOf),
    ...prompts.filter(({ name }) => isAllowed(name, wanted.prompts)).map(promptOf),
    ...(wanted.resources.length > 0 ? [resourceReader(wanted.resources)] : []),
  ]
  // A server may list one name twice; the first is the one that it would call.
  return [...new Map(found.toReversed().map((one) => [one.name, one])).values()].toReversed()
}

/** Cards tell skills apart by their names, so two tools never have the same. */
export function skillsOf(callables: readonly Callable[]): readonly AgentSkill[] {
  const counts = Map.groupBy(callables, ({ title }) => title.trim().toLowerCase())
  return callables.map((one) => {
    const isAmbiguous = (counts.get(one.title.trim().toLowerCase())?.length ?? 0) > 1
    const skill = skillOfTool({ ...one, title: isAmbiguous ? `${one.title} (${one.name})` : one.title }, 'mcp')
    const example = exampleOf(one.name, one.inputSchema)
    return {
      ...skill,
      tags: [one.sort, ...skill.tags.slice(1)],
      ...(example !== undefined ? { examples: [example] } : {}),
    }
  })
}

/** Some only run as tasks of the server's own, which was tried in one version of the protocol: those cannot be called. */
const isPlain = ({ execution }: Tool): boolean => execution?.taskSupport !== 'required'

function toolOf({ name, title, description, inputSchema, annotations = {} }: Tool): Callable {
  const shown = given(title) ?? given(annotations.title) ?? readableName(name)
  return {
    name,
    title: shown,
    description: given(description) ?? shown,
    inputSchema: inputSchema as Struct,
    sort: 'tool',
    isRepeatable: annotations.readOnlyHint === true || annotations.idempotentHint === true,
    async call(connection, input, options) {
      return outcomeOf(await connection.call(name, input, options))
    },
  }
}

function outcomeOf(result: CallToolResult): Outcome {
  return { parts: partsOfResult(result), isError: result.isError === true }
}

function promptOf({ name, title, description, arguments: fields = [] }: Prompt): Callable {
  const shown = given(title) ?? readableName(name)
  const properties = fields.map((field) => [field.name, { type: 'string', ...about(field.description) }] as const)
  const required = fields.filter((field) => field.required === true).map((field) => field.name)
  return {
    name: `prompt:${name}`,
    title: shown,
    description: given(description) ?? shown,
    inputSchema: { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false },
    sort: 'prompt',
    isRepeatable: true,
    async call(connection, input, { signal }) {
      const { messages } = await connection.prompt(name, input as Readonly<Record<string, string>>, signal)
      return { parts: partsOfContent(messages.map(({ content }) => content)), isError: false }
    },
  }
}

const uri = { type: 'string', description: 'The address of the resource, such as a result has named it' }

function resourceReader(patterns: readonly string[]): Callable {
  return {
    name: 'read-resource',
    title: 'Read a resource',
    description: 'Gives what is behind an address of this server',
    inputSchema: { type: 'object', properties: { uri }, required: ['uri'], additionalProperties: false },
    sort: 'resource',
    isRepeatable: true,
    async call(connection, input, { signal }) {
      const { uri: address } = input as { readonly uri: string }
      if (!patterns.some((pattern) => fitsPattern(pattern, address))) {
        return { parts: [{ text: `${address} may not be read here` }], isError: true }
      }
      const { contents } = await connection.resource(address, signal)
      return { parts: contents.map(partOfResource), isError: false }
    },
  }
}

const given = (text: string | undefined): string | undefined => (text?.trim() === '' ? undefined : text)

const about = (description: string | undefined): Struct => (description === undefined ? {} : { description })
