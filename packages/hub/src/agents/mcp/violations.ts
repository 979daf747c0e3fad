/** Validates the input of a tool or a form, and names the invalid fields. */
import type { Json, Struct, Violation } from '@parley/a2a'
import { z } from 'zod'

/** Empty if the schema cannot be read here: the server validates for itself. */
export function validateInput(given: Struct, schema: Struct): readonly Violation[] {
  const { issues = [] } = check(given, schema) ?? {}
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

function check(given: Struct, schema: Struct): z.ZodError | undefined {
  try {
    return z.fromJSONSchema(schema).safeParse(given).error
  } catch {
    return undefined
  }
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
