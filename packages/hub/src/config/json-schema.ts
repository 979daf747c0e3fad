/**
 * The configuration as JSON Schema: for editors, and for whoever prints a configuration and has to know what is secret and
 * what is there by default. Made of the schemas that check it.
 */
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import { agentFields } from './agent-fields.ts'
import { sections } from './config.ts'

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
  const { $schema, properties = {}, ...rest } = toJsonSchema(sections)
  const agents = { ...properties['agents'], additionalProperties: { oneOf: kinds.flatMap(entriesOf) } }
  const title = 'The configuration of a Parley hub'
  const $defs = Object.assign({}, rest.$defs, ...kinds.map((kind) => ownSchema(kind).$defs)) as Record<
    string,
    JsonSchema
  >
  return { $schema, title, ...rest, properties: { ...properties, agents }, ...(isEmpty($defs) ? {} : { $defs }) }
}

function isEmpty(value: object | undefined): boolean {
  return Object.keys(value ?? {}).length === 0
}

/** The same for editors, in a third of the size: what every entry may say is said once. */
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
  const entries = { oneOf: kinds.flatMap(entriesOf).map(refer) }
  const agents = { ...properties['agents'], additionalProperties: entries }
  const $defs = { ...whole.$defs, agent: { type: 'object', properties: common } }
  return { ...whole, properties: { ...properties, agents }, $defs }
}

/** As it is written, not as it is read. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as JsonSchema
}

/** What a kind's entry may be: several shapes where the kind has several. */
export function entriesOf(given: AgentKind): readonly JsonSchema[] {
  const { kind } = given
  const { $schema: _, $defs: __, ...own } = ownSchema(given)
  const { properties: common = {} } = toJsonSchema(agentFields)
  return shapesOf(own).map((shape) => ({
    ...shape,
    title: kind,
    properties: { kind: { const: kind }, ...shape.properties, ...common },
    required: ['kind', ...(shape.required ?? [])],
    additionalProperties: false,
  }))
}

/** What a kind defines for itself goes by its name, so that it can stand beside what others define. */
function ownSchema({ kind, schema }: AgentKind): JsonSchema {
  const { $defs = {}, ...own } = toJsonSchema(schema)
  const named = Object.fromEntries(Object.entries($defs).map(([name, part]) => [`${kind}-${name}`, part]))
  const text = JSON.stringify({ ...own, ...(isEmpty(named) ? {} : { $defs: named }) })
  return JSON.parse(text.replaceAll('"$ref":"#/$defs/', `"$ref":"#/$defs/${kind}-`)) as JsonSchema
}

function shapesOf(schema: JsonSchema): readonly JsonSchema[] {
  const alternatives = schema.anyOf ?? schema.oneOf
  return alternatives === undefined ? [schema] : alternatives.flatMap(shapesOf)
}
