/**
 * The configuration as JSON Schema, made from the schemas that validate it: for editors, and for code that prints a configuration
 * and must know secrets and defaults.
 */
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import { agentFields } from './sections/agent-fields.ts'
import { takesEffect } from './diff-config.ts'
import { sectionsSchema } from './hub-config.ts'

export interface JsonSchema {
  readonly type?: string | readonly string[]
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
  readonly $defs?: Readonly<Record<string, JsonSchema>>
  readonly [keyword: string]: unknown
}

export function configSchema(kinds: readonly AgentKind[]): JsonSchema {
  const { $schema, properties = {}, ...rest } = toJsonSchema(sectionsSchema)
  const agents = { ...properties['agents'], additionalProperties: { oneOf: kinds.flatMap(kindEntrySchemas) } }
  const title = 'The configuration of a Parley hub'
  const $defs = Object.assign({}, rest.$defs, ...kinds.map((kind) => kindSchema(kind).$defs)) as Record<
    string,
    JsonSchema
  >
  return { $schema, title, ...rest, properties: { ...properties, agents }, ...(isEmpty($defs) ? {} : { $defs }) }
}

function isEmpty(value: object | undefined): boolean {
  return Object.keys(value ?? {}).length === 0
}

/** The same schema for editors, a third of the size: common entry fields are defined once. */
export function editorSchema(kinds: readonly AgentKind[]): JsonSchema {
  const { properties = {}, ...whole } = configSchema(kinds)
  const { properties: common = {} } = toJsonSchema(agentFields)
  const refer = (shape: JsonSchema): JsonSchema => ({
    ...shape,
    properties: Object.fromEntries(
      Object.entries(shape.properties ?? {}).map(([name, part]) => [
        name,
        name in common ? { $ref: `#/$defs/agent/properties/${name}` } : part,
      ]),
    ),
  })
  const entries = { oneOf: kinds.flatMap(kindEntrySchemas).map(refer) }
  const agents = { ...properties['agents'], additionalProperties: entries }
  const $defs = { ...whole.$defs, agent: { type: 'object', properties: common } }
  return { ...whole, properties: { ...withEffects(properties, takesEffect), agents }, $defs }
}

/** Adds to the description of a setting that it needs a restart. */
function withEffects(
  properties: Readonly<Record<string, JsonSchema>>,
  effects: Readonly<Record<string, unknown>>,
): Record<string, JsonSchema> {
  const describe = (schema: JsonSchema, effect: unknown): JsonSchema => {
    if (effect === 'live') return schema
    if (effect === 'restart')
      return { ...schema, description: [schema.description, 'Takes effect after a restart.'].filter(Boolean).join(' ') }
    return { ...schema, properties: withEffects(schema.properties ?? {}, effect as Record<string, unknown>) }
  }
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, describe(schema, effects[name])]))
}

/** The schema of the input, not of the parsed value. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as JsonSchema
}

/** The possible shapes of an entry of this kind. */
export function kindEntrySchemas(given: AgentKind): readonly JsonSchema[] {
  const { kind } = given
  const { $schema: _, $defs: __, ...own } = kindSchema(given)
  const { properties: common = {} } = toJsonSchema(agentFields)
  return alternativesOf(own).map((shape) => ({
    ...shape,
    title: kind,
    properties: { kind: { const: kind }, ...shape.properties, ...common },
    required: ['kind', ...(shape.required ?? [])],
    additionalProperties: false,
  }))
}

/** Definitions of a kind are prefixed with its name, so that they do not collide with those of other kinds. */
function kindSchema({ kind, schema }: AgentKind): JsonSchema {
  const { $defs = {}, ...own } = toJsonSchema(schema)
  const named = Object.fromEntries(Object.entries($defs).map(([name, part]) => [`${kind}-${name}`, part]))
  const text = JSON.stringify({ ...own, ...(isEmpty(named) ? {} : { $defs: named }) })
  return JSON.parse(text.replaceAll('"$ref":"#/$defs/', `"$ref":"#/$defs/${kind}-`)) as JsonSchema
}

function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  const alternatives = schema.anyOf ?? schema.oneOf
  return alternatives === undefined ? [schema] : alternatives.flatMap(alternativesOf)
}
