/**
 * The configuration as JSON Schema: for editors, and for whoever prints a configuration and has to know what is secret and
 * what is there by default. Made of the schemas that check it.
 */
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import { agentFields } from './agent-fields.ts'
import { sections } from './config.ts'

export interface JsonSchema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly required?: readonly string[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly [keyword: string]: unknown
}

export function configSchema(kinds: readonly AgentKind[]): JsonSchema {
  const { $schema, properties = {}, ...rest } = toJsonSchema(sections)
  const agents = { ...properties['agents'], additionalProperties: { oneOf: kinds.flatMap(entriesOf) } }
  const title = 'The configuration of a Parley hub'
  return { $schema, title, ...rest, properties: { ...properties, agents } }
}

/** As it is written, not as it is read. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as JsonSchema
}

/** What a kind's entry may be: several shapes where the kind has several. */
export function entriesOf({ kind, schema }: AgentKind): readonly JsonSchema[] {
  const { $schema: _, ...own } = toJsonSchema(schema)
  const { properties: common = {} } = toJsonSchema(agentFields)
  return shapesOf(own).map((shape) => ({
    ...shape,
    title: kind,
    properties: { kind: { const: kind }, ...shape.properties, ...common },
    required: ['kind', ...(shape.required ?? [])],
    additionalProperties: false,
  }))
}

function shapesOf(schema: JsonSchema): readonly JsonSchema[] {
  const alternatives = schema.anyOf ?? schema.oneOf
  return alternatives === undefined ? [schema] : alternatives.flatMap(shapesOf)
}
