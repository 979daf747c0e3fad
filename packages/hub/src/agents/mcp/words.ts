/** What people write, as the values that a schema wants: one word, pairs of names and values, or arguments in brackets. */
import type { Json, Struct } from '@parley/a2a'
import { parseBoundedJson } from '../../bounded-json.ts'

/** The fields of an object, by name, each with its schema. */
export type Fields = Readonly<Record<string, Struct>>

export function fieldsOf(schema: Struct): Fields {
  const { properties } = schema
  if (!isStruct(properties)) return {}
  // `true` is a schema, too: anything goes.
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, isStruct(field) ? field : {}]))
}

export function requiredOf({ required }: Struct): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

/** A word as what its schema says it is; as it is written, where it cannot be that. */
export function valueOf(text: string, field: Struct): Json {
  const types = typesOf(field)
  if (types.includes('string')) return text
  if ((types.includes('number') || types.includes('integer')) && text !== '' && !Number.isNaN(Number(text))) {
    return Number(text)
  }
  if (types.includes('boolean') && /^(yes|true|y|1)$/i.test(text)) return true
  if (types.includes('boolean') && /^(no|false|n|0)$/i.test(text)) return false
  const json = jsonIn(text)
  if (types.includes('array')) return isList(json) ? json : text.split(',').map((item) => item.trim())
  // What may be anything is what it reads as: a number, a list, an object.
  return json !== undefined && (types.length === 0 || typeof json === 'object') ? json : text
}

/**
 * What a tool or a form is given in words. `wanted` are the fields that are still open: where that is one, the words may
 * be its value. Nothing if the words do not say which field they mean.
 */
export function inputIn(text: string, schema: Struct, wanted: readonly string[]): Struct | undefined {
  const words = text.trim()
  if (words === '') return {}
  const json = jsonIn(words)
  if (isStruct(json)) return json
  const fields = fieldsOf(schema)
  const pairs = pairsIn(words, fields)
  if (pairs !== undefined) return pairs
  const [only, ...others] = wanted
  if (only === undefined || others.length > 0) return undefined
  return { [only]: typeof json === 'string' ? json : valueOf(words, fields[only] ?? {}) }
}

/** Between the brackets of `tool(…)`: an object, values in the order of the fields, or what `inputIn` reads. */
export function argumentsIn(text: string, schema: Struct, wanted: readonly string[]): Struct | undefined {
  const listed = jsonIn(`[${text}]`)
  if (!isList(listed)) return inputIn(text, schema, wanted)
  const [first] = listed
  if (listed.length === 1 && isStruct(first)) return first
  const names = Object.keys(fieldsOf(schema))
  if (listed.length > names.length) return undefined
  return Object.fromEntries(listed.map((value, index) => [names[index] ?? '', value]))
}

const quoted = String.raw`"(?:[^"\\]|\\.)*"|'[^']*'`
const pair = new RegExp(String.raw`([\w.-]+)\s*=\s*(${quoted}|[^\s,]*)\s*,?\s*`, 'y')
const line = /^\s*-?\s*([\w.-]+)\s*[:=]\s*(.*)$/

/** `a=1 b="two words"`, or a field to a line, `a: 1`. All of it has to be that, with names that are known. */
function pairsIn(text: string, fields: Fields): Struct | undefined {
  return inOneLine(text, fields) ?? inLines(text, fields)
}

function inOneLine(text: string, fields: Fields): Struct | undefined {
  const found: Record<string, Json> = {}
  pair.lastIndex = 0
  for (let at = 0; at < text.length; at = pair.lastIndex) {
    const [, name = '', value = ''] = pair.exec(text) ?? []
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) return undefined
    found[name] = valueOf(unquoted(value), field)
  }
  return found
}

function inLines(text: string, fields: Fields): Struct | undefined {
  const found: Record<string, Json> = {}
  for (const one of text.split('\n').filter((words) => words.trim() !== '')) {
    const [, name = '', value = ''] = line.exec(one) ?? []
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) return undefined
    found[name] = valueOf(unquoted(value.trim()), field)
  }
  return found
}

function unquoted(text: string): string {
  if (/^'.*'$/s.test(text)) return text.slice(1, -1)
  const json = text.startsWith('"') ? jsonIn(text) : undefined
  return typeof json === 'string' ? json : text
}

export function jsonIn(text: string): Json | undefined {
  try {
    return parseBoundedJson(text) as Json
  } catch {
    return undefined
  }
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

export function isStruct(value: Json | undefined): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** None if it may be anything, or if what it may be is said in another way. */
function typesOf({ type, enum: choices }: Struct): readonly string[] {
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.filter((one) => typeof one === 'string')
  return Array.isArray(choices) && choices.every((one) => typeof one === 'string') ? ['string'] : []
}
