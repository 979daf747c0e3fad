/** Builds a form from the JSON Schema of an agent's question, and parses the input into the data it describes. */
import type { Json, Struct } from '@parley/a2a'
import { isStruct } from '@parley/a2a/internal'

export type FieldKind = 'text' | 'long' | 'number' | 'yes' | 'choice' | 'choices' | 'json'

export type InputType = 'text' | 'email' | 'url' | 'date' | 'time' | 'datetime-local' | 'number'

export interface FormField {
  readonly name: string
  readonly label: string
  readonly hint: string | undefined
  readonly kind: FieldKind
  /** Type of the native input, for text: `email`, `url`, `date` … */
  readonly type: InputType
  readonly isRequired: boolean
  readonly isSecret: boolean
  readonly options: readonly { readonly value: Json; readonly text: string }[]
  readonly initial: string
  /** The preselected options of a multiple choice. */
  readonly chosen: readonly string[]
  readonly schema: Struct
}

/** Form values: `true` or absent for a checkbox, all selected options for a multiple choice. */
export type FormValues = Readonly<Record<string, string | readonly string[]>>

export type FormResult = { readonly data: Struct } | { readonly mistakes: Readonly<Record<string, string>> }

/** `undefined` if the schema does not describe an object. `given` holds the values that are already known. */
export function formFieldsFromSchema(schema: Json | undefined, given: Struct = {}): readonly FormField[] | undefined {
  if (!isStruct(schema) || !isStruct(schema['properties'])) return undefined
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly Json[]) : []
  const fields = Object.entries(schema['properties']).flatMap(([name, about]) =>
    isStruct(about) ? [fieldOf(name, about, required.includes(name), given[name])] : [],
  )
  return fields.length === 0 ? undefined : fields
}

function fieldOf(name: string, schema: Struct, isRequired: boolean, given: Json | undefined): FormField {
  const options = optionsOf(schema)
  const kind = kindOf(schema, options.length > 0)
  const value = given ?? schema['default']
  return {
    name,
    label: nonEmptyText(schema['title']) ?? labelFromName(name),
    hint: nonEmptyText(schema['description']),
    kind,
    type: typeOf(schema, kind),
    isRequired,
    isSecret: schema['writeOnly'] === true || schema['format'] === 'password',
    options,
    initial: value === undefined || Array.isArray(value) ? '' : textOf(value, kind),
    chosen: Array.isArray(value) ? value.map((one) => textOf(one as Json, 'text')) : [],
    schema,
  }
}

function kindOf(schema: Struct, hasOptions: boolean): FieldKind {
  const type = typeNameOf(schema)
  if (type === 'array') return hasOptions ? 'choices' : 'json'
  if (hasOptions) return 'choice'
  if (type === 'boolean') return 'yes'
  if (type === 'number' || type === 'integer') return 'number'
  if (type !== 'string') return 'json'
  const longest = schema['maxLength']
  return typeof longest === 'number' && longest > 200 ? 'long' : 'text'
}

/** `["string", "null"]` is an optional string. */
function typeNameOf({ type }: Struct): string {
  if (Array.isArray(type)) return String(type.find((one) => one !== 'null') ?? 'string')
  return typeof type === 'string' ? type : 'any'
}

function typeOf({ format }: Struct, kind: FieldKind): InputType {
  if (kind === 'number') return 'number'
  const types: Readonly<Record<string, InputType>> = {
    email: 'email',
    uri: 'url',
    date: 'date',
    time: 'time',
    'date-time': 'datetime-local',
  }
  return (typeof format === 'string' ? types[format] : undefined) ?? 'text'
}

function optionsOf(schema: Struct): FormField['options'] {
  const items = isStruct(schema['items']) ? schema['items'] : undefined
  const from = typeNameOf(schema) === 'array' ? (items ?? {}) : schema
  const titled = [from['oneOf'], from['anyOf']].find((one) => Array.isArray(one)) as readonly Json[] | undefined
  if (titled !== undefined && titled.length > 0 && titled.every((one) => isStruct(one) && 'const' in one)) {
    return titled.map((one) => {
      const { const: value = null, title } = one as Struct
      return { value, text: nonEmptyText(title) ?? textOf(value, 'text') }
    })
  }
  const listed = from['enum']
  if (!Array.isArray(listed)) return []
  const names = Array.isArray(from['enumNames']) ? (from['enumNames'] as readonly Json[]) : []
  return listed.map((value: Json, index) => ({ value, text: nonEmptyText(names[index]) ?? textOf(value, 'text') }))
}

/** The input as data, or the errors by field. Empty optional fields are omitted. */
export function parseForm(fields: readonly FormField[], filled: FormValues): FormResult {
  const data: Record<string, Json> = {}
  const mistakes: Record<string, string> = {}
  for (const field of fields) {
    const read = parseField(field, filled[field.name])
    if ('mistake' in read) mistakes[field.name] = read.mistake
    else if (read.value !== undefined) data[field.name] = read.value
  }
  return Object.keys(mistakes).length > 0 ? { mistakes } : { data }
}

type FieldResult = { readonly value: Json | undefined } | { readonly mistake: string }

function parseField(field: FormField, given: FormValues[string] | undefined): FieldResult {
  const { kind, isRequired, options, schema } = field
  if (kind === 'yes') return { value: given === 'true' }
  if (kind === 'choices') {
    const chosen = options.filter(({ value }) => given?.includes(textOf(value, 'text')))
    // Untouched, as an empty text: an empty list would be an answer. Where something was preselected, it is one.
    if (chosen.length === 0 && field.chosen.length === 0 && !isRequired) return { value: undefined }
    const mistake = countError(chosen.length, schema, isRequired)
    return mistake === undefined ? { value: chosen.map(({ value }) => value) } : { mistake }
  }
  const text = typeof given === 'string' ? given : ''
  if (text.trim() === '') return isRequired ? { mistake: 'Required.' } : { value: undefined }
  if (kind === 'choice') return { value: options.find(({ value }) => textOf(value, 'text') === text)?.value }
  if (kind === 'json') return parseJsonField(text)
  if (kind === 'number') return parseNumberField(text, schema)
  const mistake = textError(text, schema)
  return mistake === undefined ? { value: text } : { mistake }
}

function countError(count: number, { minItems, maxItems }: Struct, isRequired: boolean): string | undefined {
  const least = typeof minItems === 'number' ? minItems : isRequired ? 1 : 0
  if (count < least) return least === 1 ? 'Choose at least one.' : `Choose at least ${least}.`
  return typeof maxItems === 'number' && count > maxItems ? `Choose at most ${maxItems}.` : undefined
}

function parseJsonField(text: string): FieldResult {
  try {
    return { value: JSON.parse(text) as Json }
  } catch {
    return { mistake: 'Not valid JSON.' }
  }
}

function parseNumberField(text: string, schema: Struct): FieldResult {
  const value = Number(text)
  const { minimum, maximum } = schema
  if (Number.isNaN(value)) return { mistake: 'Enter a number.' }
  if (typeNameOf(schema) === 'integer' && !Number.isInteger(value)) return { mistake: 'Enter a whole number.' }
  if (typeof minimum === 'number' && value < minimum) return { mistake: `Must be at least ${minimum}.` }
  if (typeof maximum === 'number' && value > maximum) return { mistake: `Must be at most ${maximum}.` }
  return { value }
}

function textError(text: string, { minLength, maxLength, pattern }: Struct): string | undefined {
  if (typeof minLength === 'number' && text.length < minLength) return `Enter at least ${minLength} characters.`
  if (typeof maxLength === 'number' && text.length > maxLength) return `Enter at most ${maxLength} characters.`
  // An agent's pattern is not evaluated here: one with catastrophic backtracking would freeze the page. The agent validates it.
  void pattern
  return undefined
}

function textOf(value: Json, kind: FieldKind): string {
  if (typeof value === 'string') return value
  return kind === 'json'
    ? JSON.stringify(value, null, 2)
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
}

/** `maxPrice` and `max_price` become “max price”. */
function labelFromName(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function nonEmptyText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
