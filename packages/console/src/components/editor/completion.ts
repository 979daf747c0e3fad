/** Completes keys and values of the schema at a position in a YAML text. */
import {
  resolveSchema,
  schemaBranches,
  schemaDefaultText,
  schemasAt,
  schemaTypeText,
  type ConfigSchema,
} from './config-schema.ts'
import { yamlPositionAt } from './yaml-position.ts'

export interface Completion {
  readonly label: string
  readonly insert: string
  /** The type, for a key. */
  readonly type: string
  readonly about: string
}

export interface CompletionList {
  /** Start of the typed prefix, which is replaced. */
  readonly from: number
  readonly to: number
  readonly items: readonly Completion[]
}

export function completionAt(text: string, offset: number, root: ConfigSchema): CompletionList | undefined {
  const position = yamlPositionAt(text, offset)
  if (position === undefined) return undefined
  const { path, key, word, siblings, indent, isFlow } = position
  const at = schemasAt(root, path, siblings)
  const known = key === undefined ? keysOf(root, at, siblings, isFlow ? undefined : indent) : valuesOf(root, at, key)
  const offers = known.filter(({ label }) => label.toLowerCase().startsWith(word.toLowerCase()) && label !== word)
  return offers.length === 0 ? undefined : { from: offset - word.length, to: offset, items: offers }
}

/** Required keys first. `indent` is `undefined` in flow style. */
function keysOf(
  root: ConfigSchema,
  at: readonly ConfigSchema[],
  siblings: ReadonlyMap<string, string>,
  indent: number | undefined,
): readonly Completion[] {
  const found = new Map<string, Completion & { readonly isRequired: boolean }>()
  for (const { properties = {}, required = [] } of at) {
    for (const [label, given] of Object.entries(properties)) {
      if (siblings.has(label) || found.has(label)) continue
      const schema = resolveSchema(root, given)
      const usual = schemaDefaultText(schema)
      const type = schemaTypeText(root, schema)
      found.set(label, {
        label,
        insert: `${label}:${valueStart(schema, indent)}`,
        type: usual === undefined ? type : `${type} = ${usual}`,
        about: schema.description ?? '',
        isRequired: required.includes(label),
      })
    }
  }
  return [...found.values()].toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired))
}

/** A mapping or list continues on the next line, indented. */
function valueStart({ type, properties, additionalProperties }: ConfigSchema, indent: number | undefined): string {
  if (indent === undefined) return ' '
  const isMap = type === 'object' && (properties !== undefined || typeof additionalProperties === 'object')
  if (isMap) return `\n${' '.repeat(indent + 2)}`
  return type === 'array' ? `\n${' '.repeat(indent + 2)}- ` : ' '
}

function valuesOf(root: ConfigSchema, at: readonly ConfigSchema[], key: string): readonly Completion[] {
  const schemas = at.flatMap(({ properties }) => {
    const schema = properties?.[key]
    return schema === undefined ? [] : schemaBranches(root, schema)
  })
  const values = schemas.flatMap(({ enum: several = [], const: one, type }) => [
    ...several,
    ...(one === undefined ? [] : [one]),
    ...(type === 'boolean' && one === undefined ? [true, false] : []),
  ])
  return [...new Set(values.map(String))].map((label) => ({ label, insert: label, type: '', about: '' }))
}
