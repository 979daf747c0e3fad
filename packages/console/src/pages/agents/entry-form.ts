/** The settings of a kind as fields that can be filled in, made of its JSON Schema; and what was filled in as an entry. */
import type { Mistake } from './mistakes.ts'
import { wordsOf } from './target.ts'

export interface EntryField {
  readonly name: string
  readonly shape: 'text' | 'long' | 'secret' | 'choice' | 'switch' | 'number' | 'command' | 'lines' | 'any' | 'json'
  readonly about: string
  readonly isRequired: boolean
  readonly options: readonly string[]
  /** What holds if nothing is said. */
  readonly usual: string
  readonly group: 'needed' | 'own' | 'card'
}

export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly writeOnly?: boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

export interface Kind {
  readonly kind: string
  readonly schemas: readonly Schema[]
}

/** What every kind's entry may say: the card and how it is called, rather than what is behind it. */
export function commonNames(kinds: readonly Kind[]): ReadonlySet<string> {
  const [first, ...others] = kinds
    .flatMap(({ schemas }) => schemas)
    .map(({ properties = {} }) => Object.keys(properties))
  return new Set((first ?? []).filter((name) => others.every((names) => names.includes(name))))
}

const groups: readonly EntryField['group'][] = ['needed', 'own', 'card']

/** Those that are needed first. */
export function fieldsOf(schema: Schema, common: ReadonlySet<string>): readonly EntryField[] {
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
        usual: usualOf(part.default),
        group: isRequired ? 'needed' : common.has(name) ? 'card' : 'own',
      }
    })
  return groups.flatMap((group) => fields.filter((field) => field.group === group))
}

const longTexts = new Set(['system', 'description', 'persona'])

function shapeOf(name: string, part: Schema): EntryField['shape'] {
  const { type, writeOnly = false, anyOf, oneOf } = part
  if (part.enum !== undefined) return 'choice'
  const alternatives = anyOf ?? oneOf
  if (name === 'command' && (isTexts(part) || alternatives?.some(isTexts) === true)) return 'command'
  if (alternatives !== undefined || Array.isArray(type)) return 'any'
  if (type === 'boolean') return 'switch'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'string') return writeOnly ? 'secret' : longTexts.has(name) ? 'long' : 'text'
  return isTexts(part) ? 'lines' : 'json'
}

function isTexts({ type, items }: Schema): boolean {
  return type === 'array' && items?.type === 'string'
}

function usualOf(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  const text = JSON.stringify(value)
  return text === '[]' || text === '{}' ? '' : text
}

export type Filled =
  | { readonly entry: Readonly<Record<string, unknown>> & { readonly kind: string } }
  | { readonly mistakes: readonly Mistake[] }

/** What is empty is not said. */
export function entryOf(kind: string, fields: readonly EntryField[], values: Readonly<Record<string, string>>): Filled {
  const entry: Record<string, unknown> & { kind: string } = { kind }
  const mistakes: Mistake[] = []
  for (const { name, shape, isRequired } of fields) {
    const text = values[name] ?? ''
    if (text.trim() === '') {
      if (isRequired) mistakes.push({ field: name, text: 'is missing' })
      continue
    }
    try {
      entry[name] = valueOf(shape, text)
    } catch {
      mistakes.push({ field: name, text: shape === 'number' ? 'give a number' : 'is no JSON' })
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
      return wordsOf(text)
    case 'lines':
      return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
    case 'json':
      return JSON.parse(text) as unknown
    case 'any':
      // A number, a yes or no, or an object as JSON has it; a duration or a size as it stands.
      return /^\s*([[{"\d-]|true\s*$|false\s*$)/.test(text) ? parsedOr(text) : text.trim()
    default:
      return shape === 'long' ? text : text.trim()
  }
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (reason) {
    if (/^\s*[[{"]/.test(text)) throw reason
    return text.trim()
  }
}
