/** Arguments in brackets, and validation by a schema: what tools need beyond forms. */
import type { Json, Struct, Violation } from '@parley/a2a'
import { isStruct, parseInput, schemaFields } from '@parley/a2a/internal'
import { z } from 'zod'
import { attempt } from '../../json/attempt.ts'
import { parseJsonOrUndefined } from '../../json/embedded-json.ts'

/**
 * Parses the text between the brackets of `tool(…)`: an object, values in the order of the fields, or what `parseInput`
 * accepts.
 */
export function parseCallArguments(text: string, schema: Struct, wanted: readonly string[]): Struct | undefined {
  const json = parseJsonOrUndefined(`[${text}]`)
  if (!Array.isArray(json)) return parseInput(text, schema, wanted)
  const listed = json as readonly Json[]
  const [first] = listed
  if (listed.length === 1 && isStruct(first)) return first
  const names = Object.keys(schemaFields(schema))
  if (listed.length > names.length) return undefined
  return Object.fromEntries(listed.map((value, index) => [names[index] ?? '', value]))
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
