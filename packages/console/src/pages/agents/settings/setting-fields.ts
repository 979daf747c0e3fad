/** Form fields from the JSON Schema of an agent kind: which control edits which setting. Pure. */
import {
  resolveSchema,
  schemaBranches,
  schemaDefaultText,
  unitOf,
  type ConfigSchema,
} from '../../../components/editor/config-schema.ts'

export type SettingUnit = 'duration' | 'size' | 'rate'

export type SettingControl =
  | { readonly type: 'text'; readonly isLong: boolean; readonly isUrl: boolean }
  | {
      readonly type: 'number'
      readonly min: number | undefined
      readonly max: number | undefined
      readonly isInteger: boolean
    }
  | { readonly type: 'unit'; readonly unit: SettingUnit; readonly hasNone: boolean }
  | { readonly type: 'boolean' }
  | { readonly type: 'choice'; readonly options: readonly (string | boolean)[] }
  | { readonly type: 'choices'; readonly options: readonly string[] }
  | { readonly type: 'list'; readonly isCommand: boolean }
  | { readonly type: 'map'; readonly isSecret: boolean; readonly hasOnlyText: boolean }
  | { readonly type: 'secret' }
  | { readonly type: 'group'; readonly fields: readonly SettingField[] }
  /** Only as text. */
  | { readonly type: 'complex' }

export interface SettingField {
  readonly path: readonly string[]
  readonly name: string
  readonly about: string
  readonly isRequired: boolean
  readonly default: unknown
  readonly defaultText: string | undefined
  readonly control: SettingControl
  /** Whether all kinds have it: card and access, rather than the backend. */
  readonly isCommon: boolean
}

/** The shapes of the entries of a kind, from the schema of the whole file. */
export function kindSchemas(root: ConfigSchema, kind: string): readonly ConfigSchema[] {
  const { additionalProperties: entries } = root.properties?.['agents'] ?? {}
  if (typeof entries !== 'object') return []
  return schemaBranches(root, entries).filter(({ properties }) => properties?.['kind']?.const === kind)
}

/** The schema of one entry as a root, for completions and hints. */
export function entryRootSchema(root: ConfigSchema): ConfigSchema {
  const { additionalProperties: entries } = root.properties?.['agents'] ?? {}
  if (typeof entries !== 'object' || root.$defs === undefined) return typeof entries === 'object' ? entries : {}
  return { ...entries, $defs: root.$defs }
}

/** The fields of the shape that fits the entry best. */
export function settingFields(
  root: ConfigSchema,
  kind: string,
  entry: Readonly<Record<string, unknown>>,
): readonly SettingField[] {
  const shapes = kindSchemas(root, kind)
  const unknownKeys = ({ properties = {} }: ConfigSchema): number =>
    Object.keys(entry).filter((key) => !Object.hasOwn(properties, key)).length
  const [best] = shapes.toSorted((one, other) => unknownKeys(one) - unknownKeys(other))
  return best === undefined ? [] : fieldsOf(root, best, []).filter(({ name }) => name !== 'kind')
}

/** The common settings that the card shows: those that the extended card may replace, and those that make up others. */
export function cardSettings(root: ConfigSchema): ReadonlySet<string> {
  const extended = schemaBranches(root, { $ref: '#/$defs/agent/properties/card' }).flatMap(({ properties }) =>
    Object.keys(properties?.['extended']?.properties ?? {}),
  )
  return new Set([...extended, 'persona', 'skillBundles', 'card'])
}

function fieldsOf(root: ConfigSchema, schema: ConfigSchema, path: readonly string[]): readonly SettingField[] {
  return Object.entries(schema.properties ?? {}).map(([name, given]) => {
    const own = resolveSchema(root, given)
    return {
      path: [...path, name],
      name,
      about: own.description ?? '',
      isRequired: schema.required?.includes(name) === true,
      default: own.default,
      defaultText: schemaDefaultText(own),
      control: controlOf(root, own, [...path, name]),
      isCommon: given.$ref?.startsWith('#/$defs/agent/') === true,
    }
  })
}

const longTexts = new Set(['system', 'description', 'persona'])
const complex: SettingControl = { type: 'complex' }

function controlOf(root: ConfigSchema, schema: ConfigSchema, path: readonly string[]): SettingControl {
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) return unionControl(root, schema, alternatives, path)
  const { type, writeOnly = false, items, additionalProperties, properties } = schema
  if (schema.enum !== undefined) return { type: 'choice', options: schema.enum.map(String) }
  if (type === 'boolean') return { type: 'boolean' }
  if (type === 'integer' || type === 'number') return numberControl(schema)
  if (type === 'string') return textControl(schema, path)
  if (type === 'array') {
    const item = items === undefined ? {} : resolveSchema(root, items)
    if (item.enum !== undefined) return { type: 'choices', options: item.enum.map(String) }
    return item.type === 'string' && !writeOnly ? { type: 'list', isCommand: path.at(-1) === 'command' } : complex
  }
  if (type !== 'object') return complex
  if (properties !== undefined) return { type: 'group', fields: fieldsOf(root, schema, path) }
  if (typeof additionalProperties !== 'object') return complex
  const value = resolveSchema(root, additionalProperties)
  return {
    type: 'map',
    isSecret: writeOnly || value.writeOnly === true,
    hasOnlyText: value.type === 'string',
  }
}

/** A union is edited in its simple form: a size in bytes or with a unit, `auto` or a boolean, a list or a text. */
function unionControl(
  root: ConfigSchema,
  schema: ConfigSchema,
  alternatives: readonly ConfigSchema[],
  path: readonly string[],
): SettingControl {
  const all = alternatives.map((one) => resolveSchema(root, one))
  const options = all.flatMap(({ type, const: one, enum: several = [] }): readonly unknown[] =>
    one === undefined ? (type === 'boolean' ? [true, false] : several) : [one],
  )
  if (
    all.every(({ type, const: one, enum: several }) => one !== undefined || several !== undefined || type === 'boolean')
  ) {
    return { type: 'choice', options: options.map((one) => (typeof one === 'boolean' ? one : String(one))) }
  }
  // YAML reads some texts as numbers.
  const text = all.every(({ type }) => type === 'string' || type === 'number')
    ? all.find(({ type }) => type === 'string')
    : undefined
  const simple = all.map((one) => controlOf(root, { ...one, writeOnly: schema.writeOnly === true }, path))
  return (
    simple.find(({ type }) => type === 'unit') ??
    simple.find(({ type }) => type === 'list') ??
    simple.find(({ type }) => type === 'choice') ??
    (text === undefined ? complex : textControl(text, path))
  )
}

function numberControl({
  type,
  minimum,
  exclusiveMinimum,
  maximum = Number.MAX_SAFE_INTEGER,
}: ConfigSchema): SettingControl {
  return {
    type: 'number',
    isInteger: type === 'integer',
    min: minimum ?? (exclusiveMinimum === undefined ? undefined : exclusiveMinimum + 1),
    max: maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum,
  }
}

function textControl({ pattern, format, writeOnly = false }: ConfigSchema, path: readonly string[]): SettingControl {
  const unit = pattern === undefined ? undefined : unitOf(pattern)
  if (unit !== undefined) return { type: 'unit', unit, hasNone: pattern?.includes('none') === true }
  if (writeOnly) return { type: 'secret' }
  return { type: 'text', isLong: longTexts.has(path.at(-1) ?? ''), isUrl: format === 'uri' }
}

/** Whether the control can edit this value: a value of another form stays as text. */
export function canEdit(control: SettingControl, value: unknown): boolean {
  if (value === undefined) return control.type !== 'complex'
  switch (control.type) {
    case 'number':
      return typeof value === 'number'
    case 'unit':
      return typeof value === 'string' || (control.unit === 'size' && typeof value === 'number')
    case 'boolean':
      return typeof value === 'boolean'
    case 'choice':
      return control.options.some((one) => one === value)
    case 'choices':
    case 'list':
      return Array.isArray(value) && value.every((one) => typeof one === 'string' && !one.includes('\n'))
    case 'map':
      return isRecord(value) && Object.values(value).every((one) => isScalar(one, control.hasOnlyText))
    case 'group':
      return isRecord(value)
    case 'text':
    case 'secret':
      return typeof value === 'string'
    case 'complex':
      return false
  }
}

function isScalar(value: unknown, hasOnlyText: boolean): boolean {
  return typeof value === 'string' || (!hasOnlyText && (typeof value === 'number' || typeof value === 'boolean'))
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
