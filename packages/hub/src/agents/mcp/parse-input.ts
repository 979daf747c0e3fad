/**
 * Parses what people write into values for a schema: one word, name-value pairs, or arguments in brackets. Also validates values
 * by a schema, and describes its fields.
 */
import { isStruct, type Json, type Struct, type Violation } from '@parley/a2a'
import { parseJsonOrUndefined } from '../../json/bounded-json.ts'
import { z } from 'zod'
import { attempt } from '../../json/attempt.ts'

/** The fields of an object, by name, each with its schema. */
export type SchemaFields = Readonly<Record<string, Struct>>

export function schemaFields(schema: Struct): SchemaFields {
  const { properties } = schema
  if (!isStruct(properties)) return {}
  // `true` is a valid schema that allows anything.
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, isStruct(field) ? field : {}]))
}

export function requiredFields({ required }: Struct): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

/** Parses a word as the type of its schema; returns the text if that fails. */
export function parseValue(text: string, field: Struct): Json {
  const types = typesOf(field)
  if (types.includes('string')) return text
  if ((types.includes('number') || types.includes('integer')) && text !== '' && !Number.isNaN(Number(text))) {
    return Number(text)
  }
  if (types.includes('boolean') && /^(yes|true|y|1)$/i.test(text)) return true
  if (types.includes('boolean') && /^(no|false|n|0)$/i.test(text)) return false
  const json = parseJsonOrUndefined(text)
  if (types.includes('array')) return isList(json) ? json : text.split(',').map((item) => item.trim())
  // A field without a type takes any JSON value: a number, a list, an object.
  return json !== undefined && (types.length === 0 || typeof json === 'object') ? json : text
}

/**
 * Parses the text input of a tool or a form. `wanted` are the fields that are still missing: if there is one, the text may
 * be its value. Undefined if the text does not name its fields.
 */
export function parseInput(text: string, schema: Struct, wanted: readonly string[]): Struct | undefined {
  const words = text.trim()
  if (words === '') return {}
  const json = parseJsonOrUndefined(words)
  if (isStruct(json)) return json
  const fields = schemaFields(schema)
  const pairs = parsePairs(words, fields)
  if (pairs !== undefined) return pairs
  const [only, ...others] = wanted
  if (only === undefined || others.length > 0) return undefined
  return { [only]: typeof json === 'string' ? json : parseValue(words, fields[only] ?? {}) }
}

/**
 * Parses the text between the brackets of `tool(…)`: an object, values in the order of the fields, or what `parseInput`
 * accepts.
 */
export function parseCallArguments(text: string, schema: Struct, wanted: readonly string[]): Struct | undefined {
  const listed = parseJsonOrUndefined(`[${text}]`)
  if (!isList(listed)) return parseInput(text, schema, wanted)
  const [first] = listed
  if (listed.length === 1 && isStruct(first)) return first
  const names = Object.keys(schemaFields(schema))
  if (listed.length > names.length) return undefined
  return Object.fromEntries(listed.map((value, index) => [names[index] ?? '', value]))
}

const quoted = String.raw`"(?:[^"\\]|\\.)*"|'[^']*'`
const pair = new RegExp(String.raw`([\w.-]+)\s*=\s*(${quoted}|[^\s,]*)\s*,?\s*`, 'y')
const line = /^\s*-?\s*([\w.-]+)\s*[:=]\s*(.*)$/

/** `a=1 b="two words"`, or one field per line, `a: 1`. The whole text must match, with known names. */
function parsePairs(text: string, fields: SchemaFields): Struct | undefined {
  return parsePairsInLine(text, fields) ?? parsePairPerLine(text, fields)
}

function parsePairsInLine(text: string, fields: SchemaFields): Struct | undefined {
  const found: Record<string, Json> = {}
  pair.lastIndex = 0
  for (let at = 0; at < text.length; at = pair.lastIndex) {
    const [, name = '', value = ''] = pair.exec(text) ?? []
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) return undefined
    found[name] = parseValue(unquoted(value), field)
  }
  return found
}

function parsePairPerLine(text: string, fields: SchemaFields): Struct | undefined {
  const found: Record<string, Json> = {}
  for (const one of text.split('\n').filter((words) => words.trim() !== '')) {
    const [, name = '', value = ''] = line.exec(one) ?? []
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) return undefined
    found[name] = parseValue(unquoted(value.trim()), field)
  }
  return found
}

function unquoted(text: string): string {
  if (/^'.*'$/s.test(text)) return text.slice(1, -1)
  const json = text.startsWith('"') ? parseJsonOrUndefined(text) : undefined
  return typeof json === 'string' ? json : text
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

/** Empty if any type is allowed, or if the schema expresses it otherwise. */
function typesOf({ type, enum: choices }: Struct): readonly string[] {
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.filter((one) => typeof one === 'string')
  return Array.isArray(choices) && choices.every((one) => typeof one === 'string') ? ['string'] : []
}

/** The fields of a schema as text, one per line: its name, whether it is optional, its description and its allowed values. */
export function fieldLines(schema: Struct): readonly string[] {
  const required = requiredFields(schema)
  return Object.entries(schemaFields(schema)).map(([name, field]) => {
    const about = [field['title'], field['description']].filter((text) => typeof text === 'string').join(': ')
    const choices = choicesOf(field)
    return [
      `- ${name}`,
      required.includes(name) ? '' : ' (optional)',
      about === '' ? '' : `: ${about}`,
      choices.length > 0 ? ` [${choices.join(' | ')}]` : '',
    ].join('')
  })
}

function choicesOf(field: Struct): readonly string[] {
  const items = isStruct(field['items']) ? field['items'] : {}
  const listed = field['enum'] ?? items['enum']
  if (Array.isArray(listed)) return listed.map(String)
  const titled = field['oneOf'] ?? items['anyOf']
  if (!Array.isArray(titled)) return []
  return (titled as readonly Json[]).flatMap((one) =>
    isStruct(one) && typeof one['const'] === 'string' ? [one['const']] : [],
  )
}

/** Empty if the schema cannot be read here: the server validates for itself. */
export function schemaViolations(given: Struct, schema: Struct): readonly Violation[] {
  const { issues = [] } = attempt(() => z.fromJSONSchema(schema).safeParse(given).error) ?? {}
  return issues.flatMap((issue) => {
    const field = issue.path.map(String).join('.')
    if (issue.code === 'unrecognized_keys') {
      const place = field === '' ? '' : `${field}.`
      return issue.keys.map((key) => ({ field: place + key, description: 'is not known' }))
    }
    const isMissing = issue.path.length > 0 && valueAt(given, issue.path) === undefined
    return [{ field, description: isMissing ? 'is missing' : plain(issue.message) }]
  })
}

/** As one sentence. */
export function describeViolations(violations: readonly Violation[]): string {
  return violations.map(({ field, description }) => `${field === '' ? 'it' : field} ${description}`).join('; ')
}

function plain(message: string): string {
  const text = message.replace(/^Invalid input: /, '').replace(/^Invalid option: /, '')
  return `is invalid (${text})`
}

function valueAt(value: Json, path: readonly PropertyKey[]): unknown {
  let at: unknown = value
  for (const key of path) at = (at as Record<PropertyKey, unknown> | null | undefined)?.[key]
  return at
}
