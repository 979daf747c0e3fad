/** How a tool may be called, for the examples of a skill: its name, and each field that it needs with a value that fits. */
import type { Json, Struct } from '@parley/a2a'
import { fieldsOf, isStruct, requiredOf } from './words.ts'

/** Longer ones help nobody. */
const limit = 200

export function exampleOf(name: string, schema: Struct): string | undefined {
  const fields = fieldsOf(schema)
  const entries = requiredOf(schema).map((field) => [field, sampleOf(fields[field] ?? {})] as const)
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
      return Object.fromEntries(requiredOf(field).map((name) => [name, sampleOf(fieldsOf(field)[name] ?? {})]))
    default:
      return field['format'] === 'uri' ? 'https://example.com' : 'text'
  }
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])
