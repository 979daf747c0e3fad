/** JSON Schema in words: the type of a value, and the settings inside it, for tables of a reference page. */
import { code } from './markdown.ts'

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly $defs?: Readonly<Record<string, Schema>>
}

/** How a reference is written, such as a link; `undefined`: the schema that it refers to is written in its place. */
export type NameRef = (ref: string) => string | undefined
export type Resolve = (ref: string) => Schema

/** A field inside a schema. */
export interface Field {
  readonly path: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** Types of text that have a form of their own. The patterns are those of packages/hub/src/config/values.ts. */
const textForms: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\(ms\|s\|m\|h\|d\)/, 'duration'],
  [/\(B\|kB\|MB\|GB\)/, 'size'],
  [/\\d\+\\\.\\d\+\)?\$$/, 'version'],
  [/\(s\|sec\|min\|h\|hour\|d\|day\)/, 'rate'],
]
const maxWholeNumber = Number.MAX_SAFE_INTEGER

export function typeText(schema: Schema, resolve: Resolve, nameRef: NameRef = () => undefined): string {
  const typeOf = (part: Schema): string => typeText(part, resolve, nameRef)
  const { $ref: ref, anyOf, oneOf, allOf } = schema
  if (ref !== undefined) return nameRef(ref) ?? (isAnyJson(ref, resolve) ? 'JSON' : typeOf(resolve(ref)))
  if (schema.const !== undefined) return code(plainValue(schema.const))
  if (schema.enum !== undefined) return schema.enum.map((value) => code(plainValue(value))).join(', ')
  const choices = anyOf ?? oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ')
  if (allOf !== undefined) return allOf.map(typeOf).join(' and ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`
  if (schema.type === 'object' || schema.properties !== undefined) return objectText(schema, typeOf)
  if (schema.type === 'string') return stringText(schema)
  if (schema.type === 'integer' || schema.type === 'number') return numberText(schema)
  return schema.type === undefined ? 'JSON' : [schema.type].flat().join(' or ')
}

function objectText(
  { properties = {}, additionalProperties: others }: Schema,
  typeOf: (part: Schema) => string,
): string {
  if (Object.keys(properties).length > 0 || typeof others !== 'object') return 'object'
  return `map of ${typeOf(others)}`
}

function stringText({ format, pattern = '' }: Schema): string {
  if (format === 'uri') return 'URL'
  if (format === 'date-time') return 'timestamp'
  const form = textForms.find(([known]) => known.test(pattern))
  if (form === undefined) return 'string'
  const [word] = /^\^\((\w+)\|/.exec(pattern)?.slice(1) ?? []
  return word === undefined ? form[1] : `${form[1]} or ${code(word)}`
}

function numberText({ type, minimum, exclusiveMinimum, maximum }: Schema): string {
  const name = type === 'integer' ? 'integer' : 'number'
  const lowest = minimum ?? (exclusiveMinimum === undefined ? undefined : exclusiveMinimum + 1)
  const low = lowest === -maxWholeNumber ? undefined : lowest
  const high = maximum === maxWholeNumber ? undefined : maximum
  if (low !== undefined && high !== undefined) return `${name} from ${low} to ${high}`
  if (low !== undefined) return `${name}, at least ${low}`
  return high === undefined ? name : `${name}, at most ${high}`
}

/** A schema of any JSON value refers to itself. */
function isAnyJson(ref: string, resolve: Resolve): boolean {
  return JSON.stringify(resolve(ref)).includes(`"$ref":${JSON.stringify(ref)}`)
}

/** Every field inside, with its path: `tls.cert`, `jwt[].issuer`, `perAgent.<name>.rate`. References that have a name are not opened. */
export function fieldsIn(
  schema: Schema,
  resolve: Resolve,
  nameRef: NameRef = () => undefined,
  path = '',
): readonly Field[] {
  const inside = (part: Schema, at: string): readonly Field[] => fieldsIn(part, resolve, nameRef, at)
  const { $ref: ref, items, additionalProperties: others } = schema
  if (ref !== undefined) {
    return nameRef(ref) !== undefined || isAnyJson(ref, resolve) ? [] : inside(resolve(ref), path)
  }
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const field = path === '' ? name : `${path}.${name}`
    return [{ path: field, schema: part, isRequired: schema.required?.includes(name) ?? false }, ...inside(part, field)]
  })
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return unique([
    ...own,
    ...mergeAlternatives(choices.map((part) => inside(part, path))),
    ...(items === undefined ? [] : inside(items, `${path}[]`)),
    ...(typeof others === 'object' ? inside(others, path === '' ? '<name>' : `${path}.<name>`) : []),
  ])
}

/** A field that only some of several objects have is not required. */
function mergeAlternatives(alternatives: readonly (readonly Field[])[]): readonly Field[] {
  const objects = alternatives.filter((fields) => fields.length > 0)
  const isInAll = ({ path }: Field): boolean =>
    objects.every((fields) => fields.some((field) => field.path === path && field.isRequired))
  return objects.flat().map((field) => ({ ...field, isRequired: field.isRequired && isInAll(field) }))
}

/** Alternatives of one value may share fields. */
function unique(fields: readonly Field[]): readonly Field[] {
  const byPath = new Map<string, Field>()
  for (const field of fields) if (!byPath.has(field.path)) byPath.set(field.path, field)
  return [...byPath.values()]
}

/** A value as people write it in YAML: quotes only where the text would be something else. */
export function plainValue(value: unknown): string {
  return typeof value === 'string' && /^(?!(?:true|false|null|[\d.]+)$)./.test(value) ? value : JSON.stringify(value)
}

/** Looks references up in a document: `#/$defs/agent/properties/name`. */
export function resolverOf(document: unknown): Resolve {
  return (ref) => {
    const found = ref
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document)
    if (found === undefined) throw new Error(`The document has no ${ref}`)
    return found as Schema
  }
}
