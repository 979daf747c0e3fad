/**
 * Answers that must match a schema. A caller sets `metadata.schema` of a part, of the message or of the request, as in
 * older drafts of the protocol; the answer is then a data part. JSON without a schema is requested by
 * `metadata.mimeType`. Accepting only JSON is no request: it is the default of clients that read text (CrewAI).
 */
import { omitUndefined, isStruct } from '@parley/a2a/internal'
import type { Turn, Json, Struct } from '@parley/a2a'
import type { OpenaiEntry } from './entry.ts'
import { z } from 'zod'
import { parseBoundedJson } from '../../json/embedded-json.ts'

export interface StructuredOutput {
  readonly responseFormat?: Struct
  /** An additional instruction for the model. */
  readonly instruction?: string
  /** The value, or the validation errors as text for the model. */
  read(text: string): { readonly value: Json } | { readonly wrong: string }
}

export function structuredOutputFor(turn: Turn, mode: OpenaiEntry['structured']): StructuredOutput | undefined {
  const hints = [...turn.message.parts.map(({ metadata }) => metadata), turn.message.metadata, turn.metadata]
  const schema = hints.map((hint) => hint?.['schema']).find(isStruct)
  if (schema !== undefined) return withSchema(schema, mode)
  const isNamed = hints.some((hint) => isJsonType(hint?.['mimeType']) || isJsonType(hint?.['mediaType']))
  return isNamed ? withoutSchema(mode) : undefined
}

function withSchema(schema: Struct, mode: OpenaiEntry['structured']): StructuredOutput {
  // Endpoints require an object at the top level.
  const isWrapped = mode === 'json_schema' && schema['type'] !== 'object'
  const check = checkOf(schema)
  const read: StructuredOutput['read'] = (text) => {
    const parsed = parse(text)
    if ('wrong' in parsed) return parsed
    const value = isWrapped && isStruct(parsed.value) && 'value' in parsed.value ? parsed.value['value'] : parsed.value
    const wrong = check(value)
    return wrong === undefined ? { value } : { wrong }
  }
  if (mode === 'json_schema') {
    const sent = isWrapped ? wrapInObject(schema) : schema
    const json_schema = { name: nameOf(schema), schema: sent, ...(isStrict(sent) ? { strict: true } : {}) }
    return { responseFormat: { type: 'json_schema', json_schema }, read }
  }
  const instruction = `Answer with JSON only, without other text. It must match this JSON Schema:\n${JSON.stringify(schema)}`
  return { ...(mode === 'json_object' ? jsonObject : {}), instruction, read }
}

function withoutSchema(mode: OpenaiEntry['structured']): StructuredOutput {
  return {
    ...(mode === 'prompt' ? {} : jsonObject),
    instruction: 'Answer with JSON only, without other text.',
    read: parse,
  }
}

const jsonObject = { responseFormat: { type: 'json_object' } }

/** Models often put a code fence around it. */
function parse(text: string): { readonly value: Json } | { readonly wrong: string } {
  const [, fenced] = /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(text) ?? []
  try {
    return { value: parseBoundedJson(fenced ?? text) as Json }
  } catch (reason) {
    return { wrong: `It is not JSON: ${String(reason)}` }
  }
}

/** If our validator cannot read the schema, the answer is not validated. */
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

/** References are relative to the top level, so their targets move there too. */
function wrapInObject(schema: Struct): Struct {
  const { $defs, definitions, $schema: _, ...rest } = schema
  return {
    type: 'object',
    properties: { value: rest },
    required: ['value'],
    additionalProperties: false,
    ...($defs !== undefined ? { $defs } : {}),
    ...omitUndefined({ definitions }),
  }
}

/**
 * Strict endpoints require every object to be closed and every property to be required; other schemas are sent without
 * `strict`.
 */
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
