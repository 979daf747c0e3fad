/** An example call of a tool, for its skill: its name, and each required field with a valid value. */
import { isStruct } from '@parley/a2a'
import type { Json, Struct } from '@parley/a2a'
import { schemaFields, requiredFields } from './parse-input.ts'

/** Longer examples do not help. */
const limit = 200

export function toolExample(name: string, schema: Struct): string | undefined {
  const fields = schemaFields(schema)
  const entries = requiredFields(schema).map((field) => [field, sampleOf(fields[field] ?? {})] as const)
  const text = entries.length === 0 ? `${name}()` : `${name}(${JSON.stringify(Object.fromEntries(entries))})`
  return text.length <= limit ? text : undefined
}

function sampleOf(field: Struct): Json {
  const { type, default: usual, examples, enum: choices } = field
  const [said] = [usual, ...listOf(examples), ...listOf(choices)].filter((value) => value !== undefined)
  if (said !== undefined) return said
  switch (Array.isArray(type) ? type[0] : type) {
    case 'number':
    case 'integer':
      return typeof field['minimum'] === 'number' ? field['minimum'] : 1
    case 'boolean':
      return true
    case 'array':
      return [sampleOf(isStruct(field['items']) ? field['items'] : {})]
    case 'object':
      return Object.fromEntries(requiredFields(field).map((name) => [name, sampleOf(schemaFields(field)[name] ?? {})]))
    default:
      return field['format'] === 'uri' ? 'https://example.com' : 'text'
  }
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])
