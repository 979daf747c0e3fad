/** Converts zod errors to route errors. */
import type { ZodType } from 'zod'
import { RouteError } from '../http/json-response.ts'

/** Throws RouteError with all errors, each with the path of its field. `where` names inputs that are not fields. */
export function validateInput<T>(schema: ZodType<T>, value: unknown, where = 'body'): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const violations = read.error.issues.map(({ path, message }) => ({
    field: path.map(String).join('.') || where,
    description: message,
  }))
  const said = violations.map(({ field, description }) => `${field}: ${description}`).join('; ')
  throw new RouteError('INVALID_PARAMS', said, { violations })
}
