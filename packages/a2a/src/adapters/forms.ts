/**
 * Forms: parses what people write into values for a schema (one word, name-value pairs, JSON), validates the values, and describes
 * the fields.
 */
import { defaultJsonNodes, exceedsJsonNodes } from '../model/json-nodes.ts'
import { isStruct } from '../model/struct.ts'
import type { Json, Struct } from '../model/task.ts'

/** The fields of an object, by name, each with its schema. */
export type SchemaFields = Readonly<Record<string, Struct>>

/** The fields of an object schema. */
export function schemaFields(schema: Struct): SchemaFields {
  const { properties } = schema
  if (!isStruct(properties)) return {}
  // `true` is a valid schema that allows anything.
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, isStruct(field) ? field : {}]))
}

/** The names of the fields that an object schema requires. */
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
  if (types.includes('array')) return isJsonList(json) ? json : text.split(',').map((item) => item.trim())
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
  return { [only]: typeof json === 'string' ? json : parseValue(words, ownField(fields, only) ?? {}) }
}

const quoted = String.raw`"(?:[^"\\]|\\.)*"|'[^']*'`
const pair = new RegExp(String.raw`([\w.-]+)\s*=\s*(${quoted}|[^\s,]*)\s*,?\s*`, 'y')
const line = /^\s*-?\s*([\w.-]+)\s*[:=]\s*(.*)$/

/** Names are of others: `constructor` and `__proto__` are fields like any. */
export function ownField<Value>(fields: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** `a=1 b="two words"`, or one field per line, `a: 1`. The whole text must match, with known names. */
function parsePairs(text: string, fields: SchemaFields): Struct | undefined {
  return parsePairsInLine(text, fields) ?? parsePairPerLine(text, fields)
}

function parsePairsInLine(text: string, fields: SchemaFields): Struct | undefined {
  const found = new Map<string, Json>()
  pair.lastIndex = 0
  for (let at = 0; at < text.length; at = pair.lastIndex) {
    const read = pair.exec(text)
    // A field may have the empty name, which no text has.
    if (read === null) return undefined
    const [, name = '', value = ''] = read
    const field = ownField(fields, name)
    if (field === undefined) return undefined
    found.set(name, parseValue(unquoted(value), field))
  }
  return Object.fromEntries(found)
}

function parsePairPerLine(text: string, fields: SchemaFields): Struct | undefined {
  const found = new Map<string, Json>()
  for (const one of text.split('\n').filter((words) => words.trim() !== '')) {
    const [, name = '', value = ''] = line.exec(one) ?? []
    const field = ownField(fields, name)
    if (field === undefined) return undefined
    found.set(name, parseValue(unquoted(value.trim()), field))
  }
  return Object.fromEntries(found)
}

/** Bounded: the limit on the JSON values of a request counts a text as one. */
function parseJsonOrUndefined(text: string): Json | undefined {
  try {
    return exceedsJsonNodes(text, defaultJsonNodes) ? undefined : (JSON.parse(text) as Json)
  } catch {
    return undefined
  }
}

function unquoted(text: string): string {
  if (/^'.*'$/s.test(text)) return text.slice(1, -1)
  const json = text.startsWith('"') ? parseJsonOrUndefined(text) : undefined
  return typeof json === 'string' ? json : text
}

const isJsonList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

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

/**
 * What is wrong with values for a form, as sentences; empty if nothing is. Checks the flat schemas that forms have: required fields,
 * types, choices and bounds. Anything else is accepted: the framework validates for itself.
 */
export function formProblems(values: Struct, schema: Struct): readonly string[] {
  const missing = requiredFields(schema).filter((name) => ownField(values, name) === undefined)
  const invalid = Object.entries(schemaFields(schema)).flatMap(([name, field]) => {
    const value = ownField(values, name)
    const problem = value === undefined ? undefined : valueProblem(value, field)
    return problem === undefined ? [] : [`${name} ${problem}`]
  })
  return [...missing.map((name) => `${name} is missing`), ...invalid]
}

function valueProblem(value: Json, field: Struct): string | undefined {
  const types = typesOf(field)
  if (types.length > 0 && !types.some((type) => hasType(value, type))) return `must be ${types.join(' or ')}`
  const choices = choicesOf(field)
  if (choices.length > 0 && typeof value !== 'object' && !choices.includes(String(value)))
    return `must be one of: ${choices.join(', ')}`
  const { minimum, maximum } = field
  if (typeof value === 'number' && typeof minimum === 'number' && value < minimum) return `must be at least ${minimum}`
  if (typeof value === 'number' && typeof maximum === 'number' && value > maximum) return `must be at most ${maximum}`
  return undefined
}

function hasType(value: Json, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isStruct(value)
    default:
      return true
  }
}
