/** JSON Schemas of configurations: the schemas that apply at a position, and how a type and a default read. */
import type { YamlStep } from './yaml-position.ts'

const typeTitles = {
  duration: 'duration, such as 30s or 10m',
  size: 'size, such as 500kB or 10MB',
  rate: 'rate, such as 60/min',
}

export interface ConfigSchema {
  readonly $ref?: string
  readonly title?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, ConfigSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: ConfigSchema | boolean
  readonly items?: ConfigSchema
  readonly oneOf?: readonly ConfigSchema[]
  readonly anyOf?: readonly ConfigSchema[]
  readonly allOf?: readonly ConfigSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly description?: string
  readonly writeOnly?: boolean
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly $defs?: Readonly<Record<string, ConfigSchema>>
}

/** Every schema that applies after the path. If a mapping has several kinds, the one that its key `kind` names. */
export function schemasAt(
  root: ConfigSchema,
  path: readonly YamlStep[],
  siblings: ReadonlyMap<string, string>,
): readonly ConfigSchema[] {
  let at: readonly ConfigSchema[] = schemaBranches(root, root)
  for (const { key, siblings: known } of path) {
    at = ofKind(at, known).flatMap((schema) => {
      const next = key === '[]' ? schema.items : propertySchema(schema, key)
      return next === undefined ? [] : schemaBranches(root, next)
    })
  }
  return ofKind(at, siblings)
}

function propertySchema({ properties, additionalProperties }: ConfigSchema, key: string): ConfigSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

function ofKind(all: readonly ConfigSchema[], siblings: ReadonlyMap<string, string>): readonly ConfigSchema[] {
  const kind = siblings.get('kind')
  const found = all.filter(({ properties }) => properties?.['kind']?.const === kind)
  return kind !== undefined && found.length > 0 ? found : all
}

/** The schema and its alternatives, without references. */
export function schemaBranches(root: ConfigSchema, schema: ConfigSchema): readonly ConfigSchema[] {
  const here = resolveSchema(root, schema)
  const more = [...(here.oneOf ?? []), ...(here.anyOf ?? []), ...(here.allOf ?? [])]
  return [here, ...more.flatMap((one) => schemaBranches(root, one))]
}

export function resolveSchema(root: ConfigSchema, schema: ConfigSchema): ConfigSchema {
  if (schema.$ref === undefined) return schema
  const steps = schema.$ref.replace(/^#\/?/, '').split('/')
  const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], root)
  return { ...(found as ConfigSchema | undefined), ...schema }
}

/** The accepted values, in a few words. */
export function schemaTypeText(root: ConfigSchema, given: ConfigSchema): string {
  const schema = resolveSchema(root, given)
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) {
    const all = new Set(alternatives.map((one) => schemaTypeText(root, one)))
    return [...all].slice(0, 4).join(' or ')
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const).replaceAll('"', '')
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ')
  if (Array.isArray(schema.type)) return schema.type.join(' or ')
  switch (schema.type) {
    case 'string':
      return stringTypeText(schema)
    case 'integer':
    case 'number':
      return numberTypeText(schema)
    case 'array':
      return `list of ${schema.items === undefined ? 'any value' : schemaTypeText(root, schema.items)}`
    case 'object':
      return schema.properties === undefined ? 'map of names to values' : 'section'
    default:
      return typeof schema.type === 'string' ? schema.type : 'any value'
  }
}

function stringTypeText({ pattern, format, writeOnly = false }: ConfigSchema): string {
  const unit = pattern === undefined ? undefined : unitOf(pattern)
  if (unit !== undefined) return typeTitles[unit]
  if (writeOnly) return 'secret'
  return format === 'uri' ? 'URL' : 'string'
}

/** The unit of a text with one, by its pattern: durations, sizes and rates have fixed ones. */
export function unitOf(pattern: string): 'duration' | 'size' | 'rate' | undefined {
  if (pattern.includes('(ms|s|m|h|d)')) return 'duration'
  if (pattern.includes('(B|kB|MB|GB)')) return 'size'
  return pattern.includes('(s|sec|min') ? 'rate' : undefined
}

function numberTypeText({ type, minimum, exclusiveMinimum, maximum }: ConfigSchema): string {
  const word = type === 'integer' ? 'integer' : 'number'
  const from = minimum ?? (exclusiveMinimum === undefined ? undefined : exclusiveMinimum + 1)
  const to = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum
  if (from !== undefined && to !== undefined) return `${word}, ${from} to ${to}`
  if (from !== undefined && from > 0) return `${word}, at least ${from}`
  return to === undefined ? word : `${word}, at most ${to}`
}

/** The default as written in YAML; `undefined` if there is none, or an empty one. */
export function schemaDefaultText({ default: value }: ConfigSchema): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return value === '' ? undefined : value
  const text = JSON.stringify(value)
  return text === '[]' || text === '{}' ? undefined : text
}
