/** Builds form fields from the JSON Schema of an agent kind, and an entry from the input. */
import type { FieldError } from '../../../components/form/field-errors.ts'
import { splitCommandLine } from '../../../agent/parse-target.ts'

export interface EntryField {
  readonly name: string
  readonly shape: 'text' | 'long' | 'secret' | 'choice' | 'switch' | 'number' | 'command' | 'lines' | 'any' | 'json'
  readonly about: string
  readonly isRequired: boolean
  readonly options: readonly string[]
  /** The default, as text. */
  readonly defaultText: string
  readonly group: 'needed' | 'own' | 'card'
}

export interface EntrySchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly writeOnly?: boolean
  readonly items?: EntrySchema
  readonly anyOf?: readonly EntrySchema[]
  readonly oneOf?: readonly EntrySchema[]
  readonly properties?: Readonly<Record<string, EntrySchema>>
  readonly required?: readonly string[]
}

export interface AgentKind {
  readonly kind: string
  readonly schemas: readonly EntrySchema[]
}

/** The settings that all kinds share: card and access, rather than the backend. */
export function commonSettingNames(kinds: readonly AgentKind[]): ReadonlySet<string> {
  const [first, ...others] = kinds
    .flatMap(({ schemas }) => schemas)
    .map(({ properties = {} }) => Object.keys(properties))
  return new Set((first ?? []).filter((name) => others.every((names) => names.includes(name))))
}

const groups: readonly EntryField['group'][] = ['needed', 'own', 'card']

/** Required fields first. */
export function entryFieldsFromSchema(schema: EntrySchema, common: ReadonlySet<string>): readonly EntryField[] {
  const fields = Object.entries(schema.properties ?? {})
    .filter(([name]) => name !== 'kind')
    .map(([name, part]): EntryField => {
      const isRequired = schema.required?.includes(name) === true
      return {
        name,
        shape: shapeOf(name, part),
        about: part.description ?? '',
        isRequired,
        options: (part.enum ?? []).map(String),
        defaultText: defaultText(part.default),
        group: isRequired ? 'needed' : common.has(name) ? 'card' : 'own',
      }
    })
  return groups.flatMap((group) => fields.filter((field) => field.group === group))
}

const longTexts = new Set(['system', 'description', 'persona'])

function shapeOf(name: string, part: EntrySchema): EntryField['shape'] {
  const { type, writeOnly = false, anyOf, oneOf } = part
  if (part.enum !== undefined) return 'choice'
  const alternatives = anyOf ?? oneOf
  if (name === 'command' && (isStringArray(part) || alternatives?.some(isStringArray) === true)) return 'command'
  if (alternatives !== undefined || Array.isArray(type)) return 'any'
  if (type === 'boolean') return 'switch'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string') return writeOnly ? 'secret' : longTexts.has(name) ? 'long' : 'text'
  return isStringArray(part) ? 'lines' : 'json'
}

function isStringArray({ type, items }: EntrySchema): boolean {
  return type === 'array' && items?.type === 'string'
}

function defaultText(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  const text = JSON.stringify(value)
  return text === '[]' || text === '{}' ? '' : text
}

export type EntryResult =
  | { readonly entry: Readonly<Record<string, unknown>> & { readonly kind: string } }
  | { readonly mistakes: readonly FieldError[] }

/** Omits empty fields. */
export function buildEntry(
  kind: string,
  fields: readonly EntryField[],
  values: Readonly<Record<string, string>>,
): EntryResult {
  const entry: Record<string, unknown> & { kind: string } = { kind }
  const mistakes: FieldError[] = []
  for (const { name, shape, isRequired } of fields) {
    const text = values[name] ?? ''
    if (text.trim() === '') {
      if (isRequired) mistakes.push({ field: name, text: 'is required' })
      continue
    }
    try {
      entry[name] = valueOf(shape, text)
    } catch {
      mistakes.push({ field: name, text: shape === 'number' ? 'must be a number' : 'is not valid JSON' })
    }
  }
  return mistakes.length > 0 ? { mistakes } : { entry }
}

function valueOf(shape: EntryField['shape'], text: string): unknown {
  switch (shape) {
    case 'switch':
      return text === 'true'
    case 'number': {
      const number = Number(text)
      if (Number.isNaN(number)) throw new Error('no number')
      return number
    }
    case 'command':
      return splitCommandLine(text)
    case 'lines':
      return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
    case 'json':
      return JSON.parse(text) as unknown
    case 'any':
      // Numbers, booleans and objects are parsed as JSON; durations and sizes stay text.
      return /^\s*([[{"\d-]|true\s*$|false\s*$)/.test(text) ? parseJsonOrText(text) : text.trim()
    default:
      return shape === 'long' ? text : text.trim()
  }
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (reason) {
    if (/^\s*[[{"]/.test(text)) throw reason
    return text.trim()
  }
}
