/**
 * Answers that have to fit a schema. A caller hints at it in `metadata.schema` of a part, of the message or of the request,
 * as the protocol's older drafts show it; the answer is then a data part. JSON without a schema is asked for by
 * `metadata.mimeType`, or by accepting nothing else.
 */
import type { Json, Struct, Turn } from '@parley/a2a'
import { z } from 'zod'
import type { OpenaiEntry } from './entry.ts'
import { parseBoundedJson } from '../../bounded-json.ts'

export interface Structure {
  readonly responseFormat?: Struct
  /** What the model has to be told besides. */
  readonly instruction?: string
  /** The value, or what is wrong with the answer in words that the model understands. */
  read(text: string): { readonly value: Json } | { readonly wrong: string }
}

export function structureFor(turn: Turn, manner: OpenaiEntry['structured']): Structure | undefined {
  const hints = [...turn.message.parts.map(({ metadata }) => metadata), turn.message.metadata, turn.metadata]
  const schema = hints.map((hint) => hint?.['schema']).find(isStruct)
  if (schema !== undefined) return withSchema(schema, manner)
  const isNamed = hints.some((hint) => isJsonType(hint?.['mimeType']) || isJsonType(hint?.['mediaType']))
  const accepted = turn.acceptedOutputModes
  return isNamed || (accepted.length > 0 && accepted.every(isJsonType)) ? withoutSchema(manner) : undefined
}

function withSchema(schema: Struct, manner: OpenaiEntry['structured']): Structure {
  // Endpoints want an object at the top.
  const isWrapped = manner === 'json_schema' && schema['type'] !== 'object'
  const check = checkOf(schema)
  const read: Structure['read'] = (text) => {
    const parsed = parse(text)
    if ('wrong' in parsed) return parsed
    const value = isWrapped && isStruct(parsed.value) && 'value' in parsed.value ? parsed.value['value'] : parsed.value
    const wrong = check(value)
    return wrong === undefined ? { value } : { wrong }
  }
  if (manner === 'json_schema') {
    const sent = isWrapped ? wrapped(schema) : schema
    const json_schema = { name: nameOf(schema), schema: sent, ...(isStrict(sent) ? { strict: true } : {}) }
    return { responseFormat: { type: 'json_schema', json_schema }, read }
  }
  const instruction = `Answer with JSON alone, without any other words. It has to fit this JSON Schema:\n${JSON.stringify(schema)}`
  return { ...(manner === 'json_object' ? jsonObject : {}), instruction, read }
}

function withoutSchema(manner: OpenaiEntry['structured']): Structure {
  return {
    ...(manner === 'prompt' ? {} : jsonObject),
    instruction: 'Answer with JSON alone, without any other words.',
    read: parse,
  }
}

const jsonObject = { responseFormat: { type: 'json_object' } }

/** Models like to put a fence around it. */
function parse(text: string): { readonly value: Json } | { readonly wrong: string } {
  const [, fenced] = /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(text) ?? []
  try {
    return { value: parseBoundedJson(fenced ?? text) as Json }
  } catch (reason) {
    return { wrong: `It is no JSON: ${String(reason)}` }
  }
}

/** What our checker cannot read is left to the model and to whoever asked. */
function checkOf(schema: Struct): (value: Json) => string | undefined {
  try {
    const checker = z.fromJSONSchema(schema)
    return (value) => {
      const { error } = checker.safeParse(value)
      return error === undefined ? undefined : z.prettifyError(error)
    }
  } catch {
    return () => undefined
  }
}

/** References within it begin at the top, so what they lead to goes there, too. */
function wrapped(schema: Struct): Struct {
  const { $defs, definitions, $schema: _, ...rest } = schema
  return {
    type: 'object',
    properties: { value: rest },
    required: ['value'],
    additionalProperties: false,
    ...($defs !== undefined ? { $defs } : {}),
    ...(definitions !== undefined ? { definitions } : {}),
  }
}

/** Strict endpoints want every object closed and every property required; others are told no such thing. */
function isStrict(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isStruct(schema)) return true
  const { properties, required } = schema
  if (schema['type'] === 'object' || properties !== undefined) {
    const names = isStruct(properties) ? Object.keys(properties) : []
    const isClosed = schema['additionalProperties'] === false
    if (!isClosed || !names.every((name) => Array.isArray(required) && required.includes(name))) return false
  }
  return Object.values(schema).every(isStrict)
}

function nameOf({ title }: Struct): string {
  const name = typeof title === 'string' ? title.replaceAll(/[^\w-]+/g, '_').slice(0, 64) : ''
  return name === '' ? 'answer' : name
}

function isJsonType(value: Json | undefined): boolean {
  return typeof value === 'string' && /^application\/(.+\+)?json\b/i.test(value)
}

function isStruct(value: Json | undefined): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
